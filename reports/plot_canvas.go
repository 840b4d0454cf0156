package reports

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// pen is what the canvases of both kinds of file share: the state of a
// vg.Canvas. Its transform leads to pixels or units counted from the top left.
type pen struct {
	penState
	stack         []penState
	width, height vg.Length
}

type penState struct {
	to     affine
	color  color.Color
	line   vg.Length
	dashes []vg.Length
}

// affine maps x, y to a·x + c·y + e, b·x + d·y + f.
type affine struct{ a, b, c, d, e, f float64 }

// point is a place on a canvas.
type point struct{ x, y float64 }

func newPen(width, height vg.Length, scale float64) pen {
	return pen{
		penState: penState{to: affine{a: scale, d: -scale, f: height.Points() * scale}, color: color.Black, line: 1},
		width:    width, height: height,
	}
}

func (m affine) at(p vg.Point) point {
	x, y := p.X.Points(), p.Y.Points()
	return point{m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f}
}

// Size implements vg.CanvasSizer.
func (p *pen) Size() (vg.Length, vg.Length) { return p.width, p.height }

// SetLineWidth and what follows implement vg.Canvas.
func (p *pen) SetLineWidth(w vg.Length) { p.line = w }

// SetLineDash ignores the offset: no drawing has one.
func (p *pen) SetLineDash(pattern []vg.Length, _ vg.Length) { p.dashes = pattern }

func (p *pen) SetColor(c color.Color) { p.color = c }

func (p *pen) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	m := p.to
	p.to.a, p.to.b, p.to.c, p.to.d = m.a*cos+m.c*sin, m.b*cos+m.d*sin, m.c*cos-m.a*sin, m.d*cos-m.b*sin
}

func (p *pen) Translate(by vg.Point) {
	at := p.to.at(by)
	p.to.e, p.to.f = at.x, at.y
}

func (p *pen) Scale(x, y float64) {
	p.to.a, p.to.b, p.to.c, p.to.d = p.to.a*x, p.to.b*x, p.to.c*y, p.to.d*y
}

func (p *pen) Push() { p.stack = append(p.stack, p.penState) }

func (p *pen) Pop() {
	last := len(p.stack) - 1
	p.penState, p.stack = p.stack[last], p.stack[:last]
}

// DrawImage draws nothing: no plot holds a picture.
func (p *pen) DrawImage(vg.Rectangle, image.Image) {}

// scribe is a canvas that writes text aligned at a point of its base line;
// align is 0 for the left end, -0.5 for the middle, -1 for the right end.
type scribe interface {
	write(s string, at vg.Point, f font.Font, align text.XAlignment)
}

// outline is a path of straight lines and curves.
type outline interface {
	move(p point)
	draw(p point)
	curve(a, b, p point)
	shut()
}

// trace walks along a path in the canvas's own units.
func (p *pen) trace(path vg.Path, to outline) {
	for _, s := range path {
		switch s.Type {
		case vg.MoveComp:
			to.move(p.to.at(s.Pos))
		case vg.LineComp:
			to.draw(p.to.at(s.Pos))
		case vg.CurveComp:
			last := s.Control[len(s.Control)-1]
			to.curve(p.to.at(s.Control[0]), p.to.at(last), p.to.at(s.Pos))
		case vg.ArcComp:
			p.arc(s, to)
		case vg.CloseComp:
			to.shut()
		}
	}
}

// arc draws at most quarters of a circle as cubic curves. Their control points
// lie 4/3·tan(angle/4) radii from the ends, along the tangents: the curve is then
// off by less than 0.03 % of the radius.
func (p *pen) arc(s vg.PathComp, to outline) {
	n := max(1, math.Ceil(math.Abs(s.Angle)/(math.Pi/2)-1e-9))
	step := s.Angle / n
	k := 4.0 / 3 * math.Tan(step/4)
	at := func(angle, along float64) point {
		sin, cos := math.Sincos(angle)
		r := s.Radius
		return p.to.at(vg.Point{X: s.Pos.X + r*vg.Length(cos-along*sin), Y: s.Pos.Y + r*vg.Length(sin+along*cos)})
	}
	to.draw(at(s.Start, 0))
	for i := range int(n) {
		from := s.Start + float64(i)*step
		to.curve(at(from, k), at(from+step, -k), at(from+step, 0))
	}
}

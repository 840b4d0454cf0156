package reports

import (
	"image"
	"math"

	"golang.org/x/image/vector"
	"gonum.org/v1/plot/vg"
)

// shape is an area within closed lines and curves, in pixels.
type shape struct {
	ops      []shapeOp
	min, max point
}

type shapeOp struct {
	kind byte // m, l, q, c: as in SVG
	p    [3]point
}

func (s *shape) reset() {
	s.ops, s.min, s.max = s.ops[:0], point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
}

func (s *shape) add(kind byte, points ...point) {
	op := shapeOp{kind: kind}
	for i, p := range points {
		op.p[i] = p
		s.min, s.max = point{min(s.min.x, p.x), min(s.min.y, p.y)}, point{max(s.max.x, p.x), max(s.max.y, p.y)}
	}
	s.ops = append(s.ops, op)
}

func (s *shape) move(p point)        { s.add('m', p) }
func (s *shape) draw(p point)        { s.add('l', p) }
func (s *shape) quad(a, p point)     { s.add('q', a, p) }
func (s *shape) curve(a, b, p point) { s.add('c', a, b, p) }
func (s *shape) shut()               {}

// bounds are the pixels that the shape touches.
func (s *shape) bounds() image.Rectangle {
	if len(s.ops) == 0 || math.IsNaN(s.max.x-s.min.x+s.max.y-s.min.y) {
		return image.Rectangle{}
	}
	low := func(v float64) int { return int(math.Floor(max(v, -1))) }
	high := func(v float64) int { return int(math.Ceil(min(v, 1<<15))) }
	return image.Rect(low(s.min.x), low(s.min.y), high(s.max.x), high(s.max.y))
}

// replay draws the shape, moved left and up.
func (s *shape) replay(z *vector.Rasterizer, left, up float64) {
	at := func(p point) (float32, float32) { return float32(p.x - left), float32(p.y - up) }
	for _, op := range s.ops {
		ax, ay := at(op.p[0])
		bx, by := at(op.p[1])
		switch op.kind {
		case 'm':
			z.ClosePath()
			z.MoveTo(ax, ay)
		case 'l':
			z.LineTo(ax, ay)
		case 'q':
			z.QuadTo(ax, ay, bx, by)
		case 'c':
			cx, cy := at(op.p[2])
			z.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	z.ClosePath()
}

// stroke adds a line of the given half width. All parts turn the same way, so that
// where they overlap they add up instead of cancelling each other.
func (s *shape) stroke(line []point, half float64) {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		nx, ny := (b.y-a.y)/length*half, -(b.x-a.x)/length*half
		s.move(point{a.x + nx, a.y + ny})
		s.draw(point{a.x - nx, a.y - ny})
		s.draw(point{b.x - nx, b.y - ny})
		s.draw(point{b.x + nx, b.y + ny})
		if i > 1 {
			s.disc(a, half) // a round joint
		}
	}
}

// disc adds a circle as an octagon: fine enough for a joint.
func (s *shape) disc(at point, r float64) {
	for i := range 8 {
		sin, cos := math.Sincos(-float64(i) * math.Pi / 4)
		p := point{at.x + r*cos, at.y + r*sin}
		if i == 0 {
			s.move(p)
		} else {
			s.draw(p)
		}
	}
}

// polylines are the lines of a path, its curves cut into pieces.
type polylines [][]point

func (l *polylines) move(p point) { *l = append(*l, []point{p}) }

func (l *polylines) draw(p point) {
	if len(*l) == 0 {
		l.move(p)
	}
	last := &(*l)[len(*l)-1]
	*last = append(*last, p)
}

func (l *polylines) curve(a, b, p point) {
	last := (*l)[len(*l)-1]
	from := last[len(last)-1]
	const pieces = 8
	for i := 1; i <= pieces; i++ {
		t := float64(i) / pieces
		u := 1 - t
		at := func(p0, p1, p2, p3 float64) float64 { return u*u*u*p0 + 3*u*u*t*p1 + 3*u*t*t*p2 + t*t*t*p3 }
		l.draw(point{at(from.x, a.x, b.x, p.x), at(from.y, a.y, b.y, p.y)})
	}
}

func (l *polylines) shut() {
	if len(*l) > 0 {
		l.draw((*l)[len(*l)-1][0])
	}
}

// dash cuts a line into the dashes of a pattern of lengths on and off, in points.
func dash(line []point, pattern []vg.Length, scale float64) [][]point {
	if len(pattern) < 2 {
		return [][]point{line}
	}
	var pieces [][]point
	on, at := true, 0
	left := pattern[0].Points() * scale
	piece := line[:1:1]
	for i := 1; i < len(line); i++ {
		from, to := line[i-1], line[i]
		length := math.Hypot(to.x-from.x, to.y-from.y)
		for done := 0.0; done < length; {
			step := min(left, length-done)
			done, left = done+step, left-step
			p := point{from.x + (to.x-from.x)*done/length, from.y + (to.y-from.y)*done/length}
			if on {
				piece = append(piece, p)
			}
			if left > 0 {
				continue
			}
			if on {
				pieces = append(pieces, piece)
			}
			on, at = !on, (at+1)%len(pattern)
			left, piece = pattern[at].Points()*scale, []point{p}
		}
	}
	if on && len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}

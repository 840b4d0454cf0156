//go:build unix

package browser

// Faint is an expression that lists texts in view whose contrast is below 4.5:1, or 3:1 for large
// ones, as WCAG 2.2 computes it (1.4.3): what lies beneath is blended upwards.
// A canvas turns any notation of a colour into bytes.
const Faint = `(() => {
	const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true}), known = new Map();
	const colour = text => {
		if (!known.has(text)) {
			pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1);
			const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
			known.set(text, [r, g, b, a / 255]);
		}
		return known.get(text);
	};
	const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const grounds = new Map(), ground = e => {
		if (!grounds.has(e)) grounds.set(e, beneath(e));
		return grounds.get(e);
	};
	const beneath = e => {
		const under = e.parentElement ? ground(e.parentElement) : matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
		return over(colour(getComputedStyle(e).backgroundColor), under);
	};
	const bad = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let n = 0;
	for (let t; t = texts.nextNode();) {
		const e = t.parentElement, box = e.getBoundingClientRect();
		if (!t.data.trim() || !e.checkVisibility({visibilityProperty: true, opacityProperty: true}) || box.width <= 1 || e.closest("title,desc,style,script,option")) continue;
		const style = getComputedStyle(e), under = ground(e), ink = over(colour(e.closest("svg") ? style.fill : style.color), under);
		const [hi, lo] = [light(ink), light(under)].sort((a, b) => b - a), ratio = (hi + 0.05) / (lo + 0.05);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		n++;
		if (ratio < (large ? 3 : 4.5)) bad.add(e.tagName + "." + (e.getAttribute("class") ?? "") + " " + ratio.toFixed(2) + " " + t.data.trim().slice(0, 30));
	}
	for (const e of document.querySelectorAll("[placeholder]")) {
		const under = ground(e), style = getComputedStyle(e, "::placeholder"), ink = over(colour(style.color), under);
		const [hi, lo] = [light(ink), light(under)].sort((a, b) => b - a), ratio = (hi + 0.05) / (lo + 0.05) * style.opacity;
		if (e.checkVisibility() && ratio < 4.5) bad.add("placeholder " + ratio.toFixed(2));
	}
	return {n, bad: [...bad]};
})()`

// Overhang is an expression that lists what reaches beyond the screen and is not inside a box that scrolls.
const Overhang = `[...document.querySelectorAll("body *")].filter(e => {
	const box = e.getBoundingClientRect(), spills = e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible" && box.left + e.scrollWidth > screen.width;
	if (!e.checkVisibility() || box.right <= screen.width + 1 && !spills) return false;
	for (let box = e.parentElement; box !== document.body && box; box = box.parentElement) if (getComputedStyle(box).overflowX !== "visible") return false;
	return true;
}).slice(-3).map(e => e.outerHTML.slice(0, 200))`

"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// A tooltip for the point of a training curve under the pointer.
const tip = make("div", { className: "tip", hidden: true });
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);
function tell(words, box) {
  tip.textContent = words;
  tip.hidden = false;
  const left = box.x + box.width / 2 - tip.offsetWidth / 2;
  const above = box.y - tip.offsetHeight - 6;
  tip.style.left = Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = (above < 0 ? box.y + box.height + 6 : above) + "px";
}
const hush = () => { tip.hidden = true; };
addEventListener("scroll", hush, true);
addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });

// Tables: a heading sorts by its column: ascending, descending, then in the original order.
const number = (words) => parseFloat(words.replace(/^< /, "").replace(/,(?=\d{3})/g, "").replace(/^[−]/, "-"));
function compare(one, other) {
  const [a, b] = [number(one), number(other)];
  if (isNaN(a) && isNaN(b)) return one.localeCompare(other);
  return isNaN(a) ? 1 : isNaN(b) ? -1 : a - b;
}
for (const data of all(".data")) {
  const body = data.querySelector("tbody"), rows = [...body.rows], heads = all("thead th", data);
  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    head.ariaSort = "none";
    button.onclick = () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.ariaSort];
      heads.forEach((other) => { other.ariaSort = "none"; });
      head.ariaSort = next;
      const words = (row) => row.cells[column].textContent;
      const isMissing = (row) => words(row) === "–";
      const sign = next === "descending" ? -1 : 1;
      const sorted = next === "none" ? rows : [...rows].sort((a, b) =>
        isMissing(a) - isMissing(b) || sign * compare(words(a), words(b)));
      body.append(...sorted);
    };
  });
}

// Training curves, drawn from the numbers in the page.
const training = document.getElementById("training");
if (training) {
  const { runs, steps, panels } = JSON.parse(training.querySelector("script").textContent);
  const [width, height, left, right, top, bottom] = [360, 170, 48, 8, 8, 22];
  const buttons = all(".legend button", training), names = buttons.map((button) => button.textContent);
  const colours = buttons.map((button) => button.style.getPropertyValue("--c"));
  const short = (value) => (value === null ? "–" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
    : String(+value.toPrecision(3))).replace("-", "−");
  const most = Math.max(...steps.flat()), slider = training.querySelector("input"), rules = [];
  const off = new Set();
  const groupOf = (run) => names.indexOf(runs[run][1]);
  const x = (step) => left + (width - left - right) * step / most;
  for (const [name, lines] of panels) {
    const values = lines.flatMap((line) => line[2]).filter((value) => value !== null);
    const low = Math.min(0, ...values), high = Math.max(0, ...values, low + 1e-9);
    const y = (value) => height - bottom - (height - top - bottom) * (value - low) / (high - low);
    const box = make("div", {}, make("h3", { textContent: name }));
    const marks = [low, (low + high) / 2, high].map((value) => `<path class=axis d="M${left} ${y(value)}H${width - right}"/>`
      + `<text x="${left - 4}" y="${y(value) + 4}" text-anchor=end>${short(value)}</text>`);
    const paths = lines.map(([run, at, heights]) => `<path data-s="${groupOf(run)}" style="stroke:${colours[groupOf(run)]}" d="`
      + heights.map((value, place) => value === null ? "" : `${place && heights[place - 1] !== null ? "L" : "M"}`
        + `${x(steps[at][place]).toFixed(1)} ${y(value).toFixed(1)}`).join("") + '"/>');
    box.insertAdjacentHTML("beforeend", `<svg viewBox="0 0 ${width} ${height}" role=img>${marks.join("")}`
      + `<text x="${left}" y="${height - 6}">0</text><text x="${width - right}" y="${height - 6}" text-anchor=end>step `
      + `${short(most)}</text>${paths.join("")}<path class=at d=""/></svg>`);
    const svg = box.lastElementChild;
    svg.setAttribute("aria-label", `${name} by step of training, of ${lines.length} runs`);
    rules.push((step) => svg.lastElementChild.setAttribute("d", `M${x(step)} ${top}V${height - bottom}`));
    svg.onpointermove = (event) => {
      const frame = svg.getBoundingClientRect(), scale = width / frame.width;
      const [px, py] = [(event.clientX - frame.x) * scale, (event.clientY - frame.y) * scale];
      let best = [Infinity];
      for (const [run, at, heights] of lines) if (!off.has(String(groupOf(run)))) heights.forEach((value, place) => {
        const far = value === null ? Infinity : Math.hypot(x(steps[at][place]) - px, y(value) - py);
        if (far < best[0]) best = [far, run, steps[at][place], value];
      });
      if (best[0] > 30) return hush();
      const spot = { x: frame.x + x(best[2]) / scale, y: frame.y + y(best[3]) / scale, width: 0, height: 0 };
      tell(`${runs[best[1]][0]} · step ${short(best[2])} · ${short(best[3])}`, spot);
    };
    svg.onpointerleave = hush;
    training.querySelector(".curves").append(box);
  }
  const stops = [...new Set(steps.flat())].sort((a, b) => a - b);
  slider.max = stops.length - 1;
  const update = () => {
    const step = stops[slider.value], shown = names.filter((_, group) => !off.has(String(group)));
    const cell = (tag, words) => Object.assign(make(tag, { textContent: words }), tag === "th" ? { scope: "row" } : {});
    const mean = (name, lines) => {
      const last = lines.filter(([run]) => runs[run][1] === name).map(([, at, heights]) =>
        heights[steps[at].findLastIndex((each) => each <= step)]).filter((value) => value != null);
      return short(last.length ? last.reduce((a, b) => a + b) / last.length : null);
    };
    training.querySelector("output").textContent = `${short(step)}: means over runs of the last values until this step`;
    const head = make("tr", {}, ...["", ...panels.map(([name]) => name)].map((name) => cell(name ? "th" : "td", name)));
    [...head.cells].forEach((each) => { if (each.scope) each.scope = "col"; });
    const titled = (title, words) => { const each = cell("td", words); each.dataset.title = title; return each; };
    const rows = shown.map((name) =>
      make("tr", {}, cell("th", name), ...panels.map(([title, lines]) => titled(title, mean(name, lines)))));
    training.querySelector("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
    rules.forEach((rule) => rule(step));
  };
  for (const button of buttons) button.onclick = () => {
    const on = button.ariaPressed === "false";
    button.ariaPressed = String(on);
    off[on ? "delete" : "add"](button.dataset.s);
    for (const path of all("[data-s]", training)) path.classList.toggle("off", path.matches("path") && off.has(path.dataset.s));
    update();
  };
  slider.value = slider.max;
  slider.oninput = update;
  update();
}

addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));

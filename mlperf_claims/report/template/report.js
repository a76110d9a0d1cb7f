"use strict";
// Draws each chart over its static picture, one at a time; without this script the picture stays.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();

  const onDark = { // the same hues, light enough for a dark page
    "#0072B2": "#56B4E9", "#D55E00": "#FF9248", "#009E73": "#2EC4A0", "#CC79A7": "#E6A3C8", "#E69F00": "#FFC24D",
    "#56B4E9": "#A8DBFF", "#767676": "#9DA7B1",
  };
  const wrap = (text, most) => text.split(" ").reduce((lines, word) => {
    const line = `${lines.at(-1)} ${word}`.trim();
    return line.length <= most ? [...lines.slice(0, -1), line] : [...lines, word];
  }, [""]).filter(Boolean);

  const draw = async (figure) => {
    const text = document.getElementById(figure.id.replace("chart", "spec")).textContent;
    const spec = JSON.parse(dark.matches ? text.replace(/#[0-9A-F]{6}/g, (colour) => onDark[colour] ?? colour) : text);
    delete spec.$schema;
    const ink = dark.matches ? "#d8dee4" : "#24292f";
    const grid = dark.matches ? "#3d444d" : "#d0d7de";
    const config = {
      axis: { labelColor: ink, titleColor: ink, gridColor: grid, domainColor: grid, tickColor: grid },
      legend: { labelColor: ink, titleColor: ink },
      title: { color: ink },
      text: { color: ink },
    };
    const target = figure.querySelector(".drawn");
    target.hidden = false; // Vega measures its container
    const width = target.clientWidth;
    spec.width = "container";
    spec.title = { text: wrap(spec.title, width / 9.5) };
    if (width < 480) {
      Object.assign(spec.config.legend, { columns: 1, labelLimit: width - 90, labelFontSize: 10 });
      Object.assign(spec.config.axis, { labelLimit: 110, labelOverlap: true });
    }
    try {
      views.get(figure)?.finalize();
      views.set(figure, await vegaEmbed(target, spec, { actions: false, renderer: "svg", ast: true, config }));
      figure.classList.add("ready");
    } catch (error) {
      target.hidden = true;
      console.error(error);
    }
  };

  const figures = [...document.querySelectorAll("figure.chart")];
  const drawNext = () => { // with a pause between two, in which the page answers
    const figure = figures.shift();
    if (figure) draw(figure).then(() => setTimeout(drawNext));
    else markWide();
  };
  setTimeout(drawNext);
  dark.addEventListener("change", () => [...views.keys()].forEach(draw));

  const button = document.getElementById("code-switch");
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    document.querySelectorAll("details.code").forEach((details) => { details.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Hide all code" : "Show all code";
  });

  // A table wider than the page scrolls in itself, by keyboard too.
  const markWide = () => document.querySelectorAll(".table").forEach((frame) => {
    const caption = frame.querySelector("caption")?.textContent ?? "Table";
    const marks = { tabindex: "0", role: "group", "aria-label": caption };
    for (const [name, value] of Object.entries(marks)) {
      if (frame.scrollWidth > frame.clientWidth) frame.setAttribute(name, value);
      else frame.removeAttribute(name);
    }
  });
  addEventListener("resize", markWide);

  const contents = document.querySelector("nav.contents details");
  const wide = matchMedia("(min-width: 68rem)");
  const fold = () => { contents.open = wide.matches; };
  fold();
  wide.addEventListener("change", fold);

  // Claims are shown by verdict, and sorted by a column: up, down, and back to the article's order.
  const table = document.querySelector("table.claims");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filters = document.querySelector(".filters");
  filters.hidden = false;
  const choices = [...filters.querySelectorAll("button")];
  choices.forEach((choice) => choice.addEventListener("click", () => {
    choices.forEach((other) => other.setAttribute("aria-pressed", String(other === choice)));
    rows.forEach((row) => { row.hidden = choice.dataset.verdict !== "" && row.dataset.verdict !== choice.dataset.verdict; });
    const shown = rows.filter((row) => !row.hidden).length;
    filters.querySelector(".shown").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} claims`;
  }));

  const compare = (one, other) => (isNaN(one) || isNaN(other) ? one.localeCompare(other, "en") : one - other);
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const sorter = document.createElement("button");
    sorter.type = "button";
    sorter.append(...head.childNodes);
    head.append(sorter);
    sorter.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")] ?? null;
      const order = head.hasAttribute("aria-sort") ? next : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order) head.setAttribute("aria-sort", order);
      const key = (row) => row.cells[column].dataset.key;
      const sign = order === "descending" ? -1 : 1;
      const sorted = order === null ? rows : [...rows].sort((one, other) => {
        const missing = (key(one) === "") - (key(other) === ""); // what has no figure stands last, either way
        return missing || sign * compare(key(one), key(other));
      });
      body.append(...sorted);
    });
  });

  // A link to a claim opens the evidence it leads to.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    target?.querySelector?.("details.evidence")?.setAttribute("open", "");
  };
  addEventListener("hashchange", reveal);
  reveal();
})();

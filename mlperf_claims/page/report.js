"use strict";
// Draws each chart over its static picture when it comes near the window; without this script the picture stays.
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
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      near.unobserve(entry.target);
      draw(entry.target);
    }),
    { rootMargin: "600px" },
  );
  figures.forEach((figure) => near.observe(figure));
  dark.addEventListener("change", () => [...views.keys()].forEach(draw));

  const button = document.getElementById("code-switch");
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    document.querySelectorAll("details.code").forEach((details) => { details.open = open; });
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Hide all code" : "Show all code";
  });

  const contents = document.querySelector("nav.contents details");
  const wide = matchMedia("(min-width: 68rem)");
  const fold = () => { contents.open = wide.matches; };
  fold();
  wide.addEventListener("change", fold);

  // A link to a claim opens the evidence it leads to.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    target?.querySelector?.("details.evidence")?.setAttribute("open", "");
  };
  addEventListener("hashchange", reveal);
  reveal();
})();

// What the page does beyond links and forms: live updates, the palette, keys, copying, charts.
"use strict";

const query = (selector, root = document) => root.querySelector(selector);
const queryAll = (selector, root = document) => [...root.querySelectorAll(selector)];

// Live updates: the server says when something changed, and the live regions are fetched again.

let stream = null;

function followChanges() {
  const state = query("#live");
  if (!queryAll("[data-live]").length || !window.EventSource) return;
  stream = new EventSource("/live");
  stream.addEventListener("open", () => setLive(state, true));
  stream.addEventListener("error", () => setLive(state, false)); // the browser connects again
  stream.addEventListener("changed", refreshRegions);
}

function setLive(state, isOn) {
  state.textContent = isOn ? "live" : "not live";
  state.classList.toggle("on", isOn);
}

let isRefreshing = false;
let isOutdated = false;

async function refreshRegions() {
  if (isRefreshing) {
    isOutdated = true;
    return;
  }
  isRefreshing = true;
  try {
    const response = await fetch(location.href, { headers: { "HX-Request": "true" } });
    if (response.ok) await replaceRegions(await response.text());
  } catch {
    // The server is gone; the stream notices and connects again.
  }
  isRefreshing = false;
  if (isOutdated) {
    isOutdated = false;
    refreshRegions();
  }
}

async function replaceRegions(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const region of queryAll("[data-live]")) {
    const replacement = fresh.getElementById(region.id);
    if (!replacement) continue;
    const selected = findSelected(queryAll("[data-entry]", region));
    if (window.htmx) {
      await htmx.swap({ target: region, text: replacement.innerHTML, swap: "innerMorph" });
    } else region.innerHTML = replacement.innerHTML;
    // The selection is the reader's, and not in what the server sends.
    const entries = queryAll("[data-entry]", region);
    if (selected >= 0) entries[Math.min(selected, entries.length - 1)]?.setAttribute("aria-selected", "true");
  }
  prepare(document);
}

function findSelected(entries) {
  return entries.findIndex((entry) => entry.getAttribute("aria-selected") === "true");
}

// Times are shown as ages and kept up to date.

function formatAge(seconds) {
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return seconds < 5 ? "just now" : `${Math.floor(seconds)} s ago`;
}

function updateTimes() {
  for (const element of queryAll("time[data-time]")) {
    const seconds = Number(element.dataset.time);
    element.textContent = formatAge(Math.max(0, Date.now() / 1000 - seconds));
    element.title = new Date(seconds * 1000).toLocaleString();
  }
}

// What is new since the last visit is marked.

function markNew() {
  const list = query("[data-visited]");
  if (!list) return;
  const key = `holdfast-visited-${list.dataset.visited}`;
  const last = Number(localStorage.getItem(key) || 0);
  for (const entry of queryAll("[data-changed]", list)) {
    entry.classList.toggle("new", last > 0 && Number(entry.dataset.changed) > last);
  }
  addEventListener("pagehide", () => localStorage.setItem(key, String(Date.now() / 1000)));
}

// The palette.

function openPalette() {
  const dialog = query("#palette");
  if (!dialog.open) dialog.showModal();
  const input = query("[data-palette]");
  input.select();
  showResults(input.value);
}

let lookup = 0;
let shownText = null; // what the shown results are for

async function showResults(text) {
  const number = ++lookup;
  const response = await fetch(`/palette?q=${encodeURIComponent(text)}`);
  if (!response.ok) return;
  const entries = await response.json();
  if (number !== lookup) return;
  const list = query("[data-palette-results]");
  list.replaceChildren();
  shownText = text;
  for (const entry of entries) {
    const link = document.createElement("a");
    link.href = entry.path;
    link.setAttribute("role", "option");
    const title = document.createElement("span");
    title.textContent = entry.title;
    const kind = document.createElement("span");
    kind.className = "muted small nowrap";
    kind.textContent = entry.kind;
    link.append(title, kind);
    const item = document.createElement("li");
    item.setAttribute("role", "presentation");
    item.append(link);
    list.append(item);
  }
  selectEntry(queryAll("a", list), 0);
}

function selectEntry(entries, index) {
  entries.forEach((entry, at) => entry.setAttribute("aria-selected", String(at === index)));
  entries[index]?.scrollIntoView({ block: "nearest" });
}

function moveInPalette(event) {
  const entries = queryAll("[data-palette-results] a");
  const at = entries.findIndex((entry) => entry.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") selectEntry(entries, Math.min(at + 1, entries.length - 1));
  else if (event.key === "ArrowUp") selectEntry(entries, Math.max(at - 1, 0));
  else if (event.key === "Enter") openEntry(event.target.value, entries[at]);
  else return;
  event.preventDefault();
}

function openEntry(text, entry) {
  // Typed faster than results arrive: search for it rather than open a result of other words.
  const isCurrent = entry && text === shownText;
  location.href = isCurrent ? entry.href : `/recall?q=${encodeURIComponent(text)}`;
}

// The source of a search result is scrolled to the words that were found.

function showFoundWords() {
  const source = query("#opened .scroll");
  const found = source && query(".item:not(.around) mark", source);
  if (!found) return;
  source.scrollTop += found.getBoundingClientRect().top - source.getBoundingClientRect().top - 90;
}

// Keys.

let lastKey = "";

function handleKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  const isTyping = event.target.closest("input, textarea, select, dialog[open]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const goTo = { gn: "/", gs: "/sessions", gr: "/recall", gw: "/work" }[lastKey + event.key];
  lastKey = event.key;
  if (goTo) location.href = goTo;
  else if (event.key === "?") query("#keys").showModal();
  else if (event.key === "j") moveSelection(1);
  else if (event.key === "k") moveSelection(-1);
  else if (event.key === "Enter") query('[data-entry][aria-selected="true"] a')?.click();
}

function moveSelection(step) {
  const entries = queryAll("[data-entry]");
  const selected = entries.findIndex((entry) => entry.getAttribute("aria-selected") === "true");
  // The opened search result, if none was selected since.
  const at = selected < 0 ? entries.findIndex((entry) => entry.ariaCurrent === "true") : selected;
  selectEntry(entries, Math.min(Math.max(at + step, 0), entries.length - 1));
}

// Source lines open in a dialog; without scripts the link opens a page of its own.

async function openSource(link) {
  const response = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!response.ok) {
    location.href = link.href;
    return;
  }
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  query("[data-source-content]").replaceChildren(...query("[data-source-lines]", fresh).childNodes);
  query("#source").showModal();
}

// Charts.

function drawCharts(root) {
  for (const element of queryAll("[data-chart]", root)) {
    if (!window.uPlot || element.dataset.drawn) continue;
    element.dataset.drawn = "true";
    const data = JSON.parse(query(element.dataset.chart).textContent);
    if (data.kind === "bars") drawBars(element, data);
    else drawContext(element, data);
  }
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function drawContext(element, data) {
  const size = () => ({ width: element.clientWidth, height: 260 });
  const chart = new uPlot(
    {
      ...size(),
      scales: { x: { time: data.isTime }, y: { range: (_, low, high) => [0, Math.max(high, data.limit || 0)] } },
      series: [{}, { label: "tokens", stroke: color("--accent"), width: 1.5, fill: color("--restored-bg") }],
      axes: [
        { stroke: color("--muted"), grid: { stroke: color("--line") } },
        {
          stroke: color("--muted"),
          grid: { stroke: color("--line") },
          values: (_, ticks) => ticks.map((tick) => (tick >= 1000 ? `${tick / 1000}k` : tick)),
          size: 56,
        },
      ],
      hooks: { draw: [(plot) => drawMarks(plot, data)] },
    },
    [data.x, data.y],
    element,
  );
  new ResizeObserver(() => chart.setSize(size())).observe(element);
}

// Stacked bars: each series is drawn from zero to its sum with those below it, the highest first.

function drawBars(element, data) {
  const size = () => ({ width: element.clientWidth, height: 180 });
  const sums = data.labels.map(() => 0);
  const stacked = data.series.map((series) => ({
    stroke: color(series.color === "other" ? "--muted" : `--${series.color}`),
    fill: color(series.color === "other" ? "--soft" : `--${series.color}-bg`),
    values: series.values.map((value, at) => (sums[at] += value)),
  }));
  stacked.reverse();
  const bars = uPlot.paths.bars({ size: [0.7, 28] });
  const chart = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: [-0.6, Math.max(data.labels.length, 8) - 0.4] },
        y: { range: (_, low, high) => [0, Math.max(high, 4)] },
      },
      series: [{}, ...stacked.map((one) => ({ fill: one.fill, stroke: one.stroke, width: 1, paths: bars, points: { show: false } }))],
      axes: [
        {
          stroke: color("--muted"),
          grid: { show: false },
          incrs: [1, 2, 5, 10, 20, 50, 100],
          space: 76,
          values: (_, ticks) => ticks.map((tick) => data.labels[tick] ?? ""),
        },
        { stroke: color("--muted"), grid: { stroke: color("--line") }, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200] },
      ],
    },
    [data.labels.map((_, at) => at), ...stacked.map((one) => one.values)],
    element,
  );
  new ResizeObserver(() => chart.setSize(size())).observe(element);
}

function drawMarks(plot, data) {
  const { ctx } = plot;
  ctx.save();
  for (const level of data.levels || []) {
    const y = Math.round(plot.valToPos(level.y, "y", true));
    if (y < plot.bbox.top || y > plot.bbox.top + plot.bbox.height) continue;
    ctx.strokeStyle = color("--line");
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(plot.bbox.left, y);
    ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
    ctx.stroke();
  }
  for (const mark of data.marks) {
    const x = Math.round(plot.valToPos(mark.x, "x", true));
    if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
    ctx.strokeStyle = color(mark.kind === "compaction" ? "--lost" : "--kept");
    ctx.setLineDash(mark.kind === "compaction" ? [] : [3, 4]);
    ctx.beginPath();
    ctx.moveTo(x, plot.bbox.top);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// Clicks on buttons.

async function handleClick(event) {
  const button = event.target.closest(
    "[data-copy], [data-copy-text], [data-open], [data-open-dialog], [data-close], [data-post], " +
      "[data-theme-switch], [data-source]",
  );
  if (!button) return;
  if (button.dataset.openDialog) query(`#${button.dataset.openDialog}`).showModal();
  else if ("close" in button.dataset) button.closest("dialog").close();
  else if (button.dataset.post) await post(button);
  else if (button.dataset.copyText) await copy(button, button.dataset.copyText);
  if (button.dataset.open === "palette") openPalette();
  else if ("themeSwitch" in button.dataset) switchTheme();
  else if ("source" in button.dataset && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openSource(button);
  } else if (button.dataset.copy) await copy(button, query(button.dataset.copy).textContent);
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  say(button, "Copied");
}

// Shows for a moment what a button did.
function say(button, text) {
  const before = button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = before), 1500);
}

async function send(path, body) {
  return fetch(path, {
    method: "POST",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body ? JSON.stringify(body) : undefined,
  });
}

async function post(button) {
  const response = await send(button.dataset.post);
  say(button, response.ok ? button.dataset.done : "This did not work");
}

async function postForm(event) {
  const form = event.target.closest("[data-post-form]");
  if (!form) return;
  event.preventDefault();
  const response = await send(form.dataset.postForm, Object.fromEntries(new FormData(form)));
  if (response.ok) {
    form.reset();
    form.closest("dialog").close();
    refreshRegions();
  } else {
    const problem = await response.json();
    query("[data-problem]", form).textContent = [problem.detail, problem.hint].filter(Boolean).join("; ");
  }
}

function switchTheme() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (isDark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("holdfast-theme", next);
  location.reload(); // charts take their colours when they are drawn
}

// Parts that read the whole log are loaded after the page is shown.

async function loadParts() {
  for (const element of queryAll("[data-load]")) {
    const response = await fetch(element.dataset.load, { headers: { "HX-Request": "true" } });
    if (!response.ok) continue;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const part = query(element.dataset.select, fresh);
    if (part) element.replaceChildren(...part.childNodes);
    prepare(element);
  }
}

function prepare(root) {
  updateTimes();
  drawCharts(root);
}

prepare(document);
showFoundWords();
addEventListener("htmx:after:swap", showFoundWords);
markNew();
loadParts();
followChanges();
setInterval(updateTimes, 10_000);
addEventListener("keydown", handleKey);
addEventListener("click", handleClick);
addEventListener("submit", postForm);
query("[data-palette]").addEventListener("input", (event) => showResults(event.target.value));
query("[data-palette]").addEventListener("keydown", moveInPalette);

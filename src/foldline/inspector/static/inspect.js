// Page behaviour beyond links and forms: chart control by mouse and keyboard, search while typing,
// following a growing session, light and dark themes. Texts are inserted as text, never as HTML;
// a fetched page comes from this server and is escaped there.
"use strict";

const THEMES = ["", "light", "dark"];
const WAIT = 250; // milliseconds after the last key before a form is sent
const FOLLOW = 1500; // milliseconds between two checks for changes

const number = new Intl.NumberFormat("en");

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("foldline-theme", name); } catch { /* private windows have none */ }
}

function nextTheme() {
  const now = document.documentElement.dataset.theme || "";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

// --- the chart ------------------------------------------------------------------------------

function followChart(chart) {
  if (!chart.dataset.href) return;
  const rows = JSON.parse(chart.dataset.requests);
  const bands = JSON.parse(chart.dataset.bands);
  const drawing = chart.querySelector("svg.over-time");
  const cursor = chart.querySelector(".cursor");
  const tip = chart.querySelector(".tip");
  const scrub = chart.querySelector(".scrub"); // covers the drawing, but not its links
  let at = rows.length - 1;

  function words(row) {
    const whole = row.slice(1).reduce((sum, tokens) => sum + tokens, 0);
    const lines = [`request ${number.format(row[0])}: ${number.format(whole)} tokens`];
    bands.forEach((band, index) => {
      if (row[index + 1]) lines.push(`${number.format(row[index + 1]).padStart(9)}  ${band}`);
    });
    return lines;
  }

  function show(index) {
    at = Math.max(0, Math.min(rows.length - 1, index));
    const place = `${(100 * (at + 0.5)) / rows.length}%`;
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    cursor.removeAttribute("hidden");
    tip.hidden = false;
    tip.classList.toggle("left", at > rows.length / 2);
    const lines = words(rows[at]);
    tip.textContent = lines.join("\n");
    scrub.setAttribute("aria-valuenow", rows[at][0]);
    scrub.setAttribute("aria-valuetext", lines.map((line) => line.trim()).join(", "));
  }

  function hide() {
    cursor.setAttribute("hidden", "");
    tip.hidden = true;
  }

  function open() {
    location.href = chart.dataset.href.replace(/requests\/\d+/, `requests/${rows[at][0]}`);
  }

  function under(event) {
    const box = drawing.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width) * rows.length);
  }

  scrub.hidden = false;
  scrub.tabIndex = 0;
  scrub.setAttribute("role", "slider");
  scrub.setAttribute("aria-label", "Requests; arrow keys choose one, Enter opens it");
  scrub.setAttribute("aria-valuemin", rows[0][0]);
  scrub.setAttribute("aria-valuemax", rows[rows.length - 1][0]);
  scrub.setAttribute("aria-valuenow", rows[at][0]);
  scrub.addEventListener("mousemove", (event) => show(under(event)));
  scrub.addEventListener("mouseleave", hide);
  scrub.addEventListener("focus", () => show(at));
  scrub.addEventListener("blur", hide);
  scrub.addEventListener("click", (event) => {
    show(under(event));
    open();
  });
  scrub.addEventListener("keydown", (event) => {
    const leap = Math.max(1, Math.round(rows.length / 10));
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: leap,
      PageDown: -leap, Home: -rows.length, End: rows.length };
    if (event.key === "Enter") open();
    else if (event.key in steps) show(at + steps[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// --- pages that change without a reload -------------------------------------------------------

let fetching = null;

async function replace(address, { quiet = false } = {}) {
  if (fetching) fetching.abort();
  fetching = new AbortController();
  let answer;
  try {
    answer = await fetch(address, { signal: fetching.signal, headers: { Accept: "text/html" } });
  } catch { return false; }
  if (!answer.ok || answer.status === 202) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = fresh.querySelector("main");
  if (!main) return false;
  const focused = document.activeElement;
  const keep = focused && focused.id ? [focused.id, focused.value, focused.selectionStart] : null;
  const typed = !quiet && keep;
  document.querySelector("main").replaceWith(document.adoptNode(main));
  const header = fresh.querySelector("header .about");
  const old = document.querySelector("header .about");
  if (header && old) old.replaceWith(document.adoptNode(header));
  if (keep) {
    const again = document.getElementById(keep[0]);
    if (again) {
      again.focus({ preventScroll: true });
      if (typed && keep[1] !== undefined) {
        again.value = keep[1];
        if (keep[2] !== null) again.setSelectionRange(keep[2], keep[2]);
      }
    }
  }
  prepare();
  return true;
}

function whileTyping(form) {
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
      replace(address).then((done) => { if (done) history.replaceState(null, "", address); });
    }, WAIT);
  });
}

async function follow() {
  const main = document.querySelector("main");
  const version = main && main.dataset.version;
  if (version && !document.hidden && !document.querySelector("details[data-busy]")) {
    const parts = location.pathname.split("/");
    const place = parts[1] === "s" ? `/s/${parts[2]}/version` : "/";
    const query = new URLSearchParams(location.search);
    const request = new URLSearchParams();
    if (query.has("conversation")) request.set("conversation", query.get("conversation"));
    if (place === "/") request.set("version", "1");
    try {
      const answer = await fetch(`${place}?${request}`);
      const now = answer.ok ? (await answer.json()).version : version;
      const busy = document.activeElement && document.activeElement.matches("main input, main select");
      if (now && now !== version && !busy && (await replace(location.href, { quiet: true }))) {
        document.getElementById("news").textContent = "The session has grown; this page shows it.";
      }
    } catch { /* the server has stopped; the page stays as it is */ }
  }
  setTimeout(follow, FOLLOW);
}

// --- keys -------------------------------------------------------------------------------------

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [role=slider]")) return;
  const go = (selector) => {
    const link = document.querySelector(selector);
    if (link) { event.preventDefault(); link.click(); }
  };
  if (event.key === "/") {
    const box = document.getElementById("search");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
    else if (location.pathname.startsWith("/s/")) {
      location.href = `${location.pathname.split("/").slice(0, 3).join("/")}/knows`;
    }
  } else if (event.key === "ArrowLeft") go('a[rel="prev"]');
  else if (event.key === "ArrowRight") go('a[rel="next"]');
  else if (event.key === "t") nextTheme();
}

function prepare() {
  document.querySelectorAll(".chart").forEach(followChart);
  document.querySelectorAll("form[data-live]").forEach(whileTyping);
}

try { setTheme(localStorage.getItem("foldline-theme") || ""); } catch { /* as above */ }
const theme = document.getElementById("theme");
if (theme) { theme.hidden = false; theme.addEventListener("click", nextTheme); }
document.addEventListener("keydown", onKey);
prepare();
setTimeout(follow, FOLLOW);

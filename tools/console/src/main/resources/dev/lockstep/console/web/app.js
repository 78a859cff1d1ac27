// The page as a whole: which page is shown, when it is asked for again, and what stands above and below it.
import { h, t, update } from "./dom.js";
import { clock, duration, getLanguage, percent, preferred, read, setLanguage, store, text } from "./i18n.js";
import { graphPage, nowPage } from "./now.js";
import { lockPage } from "./lock.js";
import { clientsPage } from "./clients.js";
import { heatPage } from "./heat.js";
import { historyPage } from "./history.js";

const pages = { now: nowPage, graph: graphPage, lock: lockPage, clients: clientsPage, heat: heatPage, history: historyPage };
/** How long an answer may take, in milliseconds: the console reads it from its memory. */
const PATIENCE = 10_000;
const THEMES = ["auto", "light", "dark"];
const mounted = document.querySelector("meta[name=lockstep-live]").content === "poll";
/** No header forbids that where it is mounted, and a click inside a page of another site may be led astray: so nothing is shown. */
const framed = mounted && window.top !== window.self;
/** Where data is: beside this file, whatever the address of the page. */
const at = path => new URL(path, import.meta.url);
const main = document.getElementById("main");
const health = document.getElementById("health");
const announce = document.getElementById("announce");
const cost = document.getElementById("cost");
let page = null;
let name = "";
let query = {};
let paused = false;
let asked = 0;
let busy = false;
let again = false;
let last = null;
let lost = false;
let events = null;
let polling = false;
let failure = "";

function parse() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: pages[path] ? path : "now", query: Object.fromEntries(new URLSearchParams(parameters ?? "")) };
}

function open() {
  if (framed) {
    main.replaceChildren(h("p", { class: "problem" }, t("framed")));
    return;
  }
  ({ name, query } = parse());
  main.replaceChildren();
  page = pages[name](main, { query, refresh, setQuery, post });
  document.querySelectorAll("nav a").forEach(link => {
    const current = link.dataset.page === (name === "lock" ? "now" : name);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  document.title = (query.name ?? text("nav." + name)) + " · " + text("title");
  refresh();
}

/** Changes the query of this page, without leaving it. */
function setQuery(values) {
  Object.assign(query, values);
  const kept = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
  const parameters = new URLSearchParams(kept).toString();
  history.replaceState(null, "", location.pathname + "#/" + name + (parameters ? "?" + parameters : ""));
  refresh();
}

/** Asks for what this page shows. One request at a time: a slow network must not pile them up. */
async function refresh() {
  if (framed) return;
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  const number = ++asked;
  const shown = page;
  try {
    const answer = await fetch(at(shown.path()), { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE) });
    const data = await answer.json().catch(error => {
      if (error instanceof SyntaxError) return null;
      throw error; // the connection ended, or it took too long
    });
    if (data === null) throw new Error(text("foreign", { status: answer.status })); // such as a page to sign in
    if (!answer.ok) throw new Error(data.error ?? answer.status);
    lost = false;
    failure = "";
    if (shown === page && number === asked) {
      last = data;
      main.hidden = data.engine.answeredAt === undefined; // nothing is known
      shown.show(data);
    }
  } catch (error) {
    if (error instanceof TypeError || error.name === "TimeoutError" || error.name === "AbortError") lost = true;
    else failure = String(error.message ?? error);
  } finally {
    busy = false;
    frame();
    main.setAttribute("data-ready", name);
    if (again) {
      again = false;
      refresh();
    }
  }
}

async function post(path, values) {
  const answer = await fetch(at(path), {
    method: "POST",
    headers: { "X-Lockstep-Console": "1", "Content-Type": mounted ? "application/json" : "application/x-www-form-urlencoded" },
    body: mounted ? JSON.stringify(values) : new URLSearchParams(values)
  });
  const data = await answer.json().catch(() => ({})); // one that is not of the console, such as that of a security filter
  if (!answer.ok) throw new Error(data.error ?? "HTTP " + answer.status);
  return data;
}

/** The line of health above the page, and that of the cost below it. */
function frame() {
  const lines = [];
  // Said once, while the line of health changes with every ping.
  update(announce, [lost ? text("lost") : failure ? text("error", { error: failure }) : !last ? "" : !last.engine.reachable ? text("engine.downFirst")
    : last.totals.deadlocks ? text("announce.deadlocks", { n: last.totals.deadlocks }) : ""]);
  if (lost) lines.push(h("p", { class: "problem" }, t("lost")));
  if (failure) lines.push(h("p", { class: "problem" }, t("error", { error: failure })));
  if (last) {
    const engine = last.engine;
    if (!engine.reachable) {
      lines.push(h("p", { class: "problem" }, engine.answeredAt === undefined ? t("engine.downFirst")
        : t("engine.down", { time: duration(last.at - engine.answeredAt), at: clock(engine.answeredAt) }), " ", h("span", { class: "detail" }, engine.error)));
    } else if (engine.answeredAt === undefined) {
      lines.push(h("p", { class: "notice" }, t("engine.first")));
    }
    if (engine.product) {
      lines.push(h("div", { class: "engine" },
        h("span", { class: "dot " + (engine.reachable ? "up" : "down") }),
        h("strong", {}, engine.product, " ", engine.engineVersion),
        engine.reachable ? h("span", {}, t("engine.up"), engine.pingMillis === undefined ? "" : [" · ", t("engine.ping", { ms: duration(engine.pingMillis) })]) : null,
        engine.fallback ? h("span", { class: "warm" }, t("engine.fallback")) : null,
        h("details", {}, h("summary", {}, t("engine.about")),
          h("div", { class: "about" },
            h("h3", {}, t("engine.guarantees")), h("ul", { class: "yes" }, engine.guarantees.map(each => h("li", {}, each))),
            h("h3", {}, t("engine.limits")), h("ul", { class: "no" }, engine.limits.map(each => h("li", {}, each)))))));
    }
    if (paused) lines.push(h("p", { class: "notice" }, t("paused", { at: clock(last.at) })));
    if (last.version > 0) update(cost, [engine.reachable ? t("cost", {
      every: duration(last.cost.everyMillis), pages: text("cost.pages", { n: last.cost.pages }), took: duration(last.cost.tookMillis),
      share: percent(last.cost.share), at: clock(last.at) }) : t("cost.down", { at: clock(last.at) }),
      t("sep.space"), t("cost.more"), t("sep.space"), last.cost.truncated ? t("cost.truncated") : ""]);
  }
  update(health, lines);
}

/** New samples: by the stream, or, where there is none, by asking every second. */
function live() {
  if (framed || events || polling) return;
  if (mounted || !window.EventSource) {
    poll();
    return;
  }
  const stream = new EventSource(at("api/stream"));
  events = stream;
  stream.onmessage = () => {
    if (lost) {
      lost = false;
      frame();
    }
    if (!paused) refresh();
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) {
      events = null;
      poll();
    } else {
      lost = true;
      frame();
    }
  };
}

/** A browser makes six connections to a host, for all its tabs: those that nobody sees must not occupy them. */
function rest() {
  events?.close();
  events = null;
}

function poll() {
  polling = true;
  setInterval(() => {
    if (!paused && !document.hidden) refresh();
  }, 1000);
}

function theme(wanted) {
  const chosen = THEMES.includes(wanted) ? wanted : "auto";
  if (chosen === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", chosen);
  store("theme", chosen);
  document.getElementById("theme").textContent = text("theme." + chosen);
}

function translate() {
  document.querySelectorAll("[data-text]").forEach(each => {
    each.textContent = text(each.dataset.text);
  });
  document.querySelectorAll("[data-label]").forEach(each => each.setAttribute("aria-label", text(each.dataset.label)));
  theme(read("theme"));
  document.getElementById("pause").textContent = text(paused ? "resume" : "pause");
}

setLanguage(preferred());
const language = document.getElementById("language");
language.value = getLanguage();
language.addEventListener("change", () => {
  setLanguage(language.value);
  store("language", language.value);
  translate();
  open();
});
document.getElementById("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(read("theme") ?? "auto") + 1) % THEMES.length]));
document.getElementById("pause").addEventListener("click", event => {
  paused = !paused;
  event.target.setAttribute("aria-pressed", String(paused));
  translate();
  if (paused) frame();
  else refresh();
});
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault(); // the fragment is the page's
  main.focus();
});
window.addEventListener("hashchange", () => {
  open();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    rest();
    return;
  }
  live();
  if (!paused) refresh();
});
translate();
open();
if (!document.hidden) live();

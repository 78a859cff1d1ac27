// The picture of who waits for whom. A lock is a box that names its holder; an arrow leads to the lock that its holder waits for.
import { svg, t } from "./dom.js";
import { duration, text } from "./i18n.js";
import { lockHref } from "./parts.js";

const WIDTH = 190;
const HEIGHT = 50;
const GAP_X = 70;
const GAP_Y = 18;
const PAD = 14;
/** A picture of two columns, which a phone shows as a whole; it scrolls a wider one, whose text would be too small. */
const NARROW = 2 * (WIDTH + PAD) + GAP_X;

/** Where each lock of a blocker is: what all wait for stands on the right; a cycle is a ring. */
function layout(blocker, offsetY) {
  const names = new Map(blocker.locks.map(lock => [lock.name, { lock }]));
  const edges = blocker.edges.filter(edge => names.has(edge.from) && names.has(edge.to));
  const ring = [...new Set(blocker.cycle.map(edge => edge.from))].filter(name => names.has(name));
  const depth = new Map((ring.length ? ring : [blocker.locks[0].name]).map(name => [name, 0]));
  let grown = true;
  while (grown) {
    grown = false;
    for (const edge of edges) {
      if (depth.has(edge.to) && !depth.has(edge.from)) {
        depth.set(edge.from, depth.get(edge.to) + 1);
        grown = true;
      }
    }
  }
  const columns = [];
  for (const name of names.keys()) {
    const column = ring.includes(name) ? -1 : depth.get(name) ?? 0;
    (columns[column + 1] ??= []).push(name);
  }
  const deepest = columns.length - 1;
  const ringPlaces = ringLayout(ring);
  const ringHeight = ring.length ? Math.max(...ringPlaces.map(place => place.y)) + HEIGHT : 0;
  const ringWidth = ring.length ? Math.max(...ringPlaces.map(place => place.x)) + WIDTH : 0;
  const tallest = Math.max(ringHeight, ...columns.slice(1).map(column => (column?.length ?? 0) * (HEIGHT + GAP_Y) - GAP_Y));
  const nodes = [];
  const step = WIDTH + GAP_X;
  const right = (deepest - (ring.length ? 1 : 0)) * step - (ring.length ? 0 : step);
  for (let column = 1; column <= deepest; column++) {
    const members = columns[column] ?? [];
    const top = (tallest - (members.length * (HEIGHT + GAP_Y) - GAP_Y)) / 2;
    const x = ring.length ? (deepest - column) * step : (deepest - column) * step;
    members.forEach((name, i) => nodes.push({ ...names.get(name), x, y: offsetY + top + i * (HEIGHT + GAP_Y) }));
  }
  const ringX = ring.length ? Math.max(0, deepest - 1) * step : right;
  ring.forEach((name, i) => nodes.push({
    ...names.get(name), x: ringX + ringPlaces[i].x, y: offsetY + (tallest - ringHeight) / 2 + ringPlaces[i].y, ring: true
  }));
  const width = ring.length ? ringX + ringWidth : Math.max(0, deepest - 1) * step + WIDTH;
  return { nodes, edges, width, height: tallest, cycle: blocker.cycle };
}

/** Two stand side by side, more of them on an ellipse. */
function ringLayout(ring) {
  if (ring.length <= 2) return ring.map((name, i) => ({ x: i * (WIDTH + GAP_X), y: 0 }));
  const radiusX = Math.max(WIDTH * 0.9, ring.length * 48);
  const radiusY = Math.max(HEIGHT * 1.3, ring.length * 26);
  return ring.map((name, i) => {
    const angle = -Math.PI / 2 + i * 2 * Math.PI / ring.length;
    return { x: radiusX + radiusX * Math.cos(angle), y: radiusY + radiusY * Math.sin(angle) };
  });
}

function shorten(value, most) {
  const letters = [...value];
  return letters.length <= most ? value : letters.slice(0, most - 1).join("") + "…";
}

function node({ lock, x, y, ring }, kind) {
  const holder = lock.holder;
  const who = holder ? holder.client + " · " + duration(holder.ageMillis) : text("holder.free");
  const waits = lock.waiters > 0 ? text("graph.waiters", { n: lock.waiters }) : "";
  const label = lock.name + ", " + who + (waits ? ", " + waits : "");
  return svg("a", { href: lockHref(lock.namespace, lock.name), class: "node" + (ring ? " " + kind : ""), "aria-label": label, "data-focus": "node " + lock.name },
    svg("title", {}, label),
    svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 7 }),
    svg("text", { x: x + 10, y: y + 20, class: "name" }, shorten(lock.name, waits ? 17 : 25)),
    svg("text", { x: x + 10, y: y + 39, class: "who" }, shorten(who, 29)),
    waits ? svg("text", { x: x + WIDTH - 10, y: y + 20, class: "count", "text-anchor": "end" }, "× " + lock.waiters) : null);
}

/** From the border of one box to the border of another one; two that point at each other keep apart. */
function arrow(edge, from, to, inCycle) {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  let path;
  if (from === to) {
    path = `M ${from.x + WIDTH * 0.65} ${from.y + HEIGHT} c 10 28 -50 28 -42 2`;
  } else if (Math.abs(dy) < HEIGHT && Math.abs(dx) >= WIDTH) {
    const down = dx > 0 ? -1 : 1;
    const shift = inCycle ? down * 12 : 0;
    const x1 = dx > 0 ? from.x + WIDTH : from.x;
    const x2 = dx > 0 ? to.x : to.x + WIDTH;
    const y1 = from.y + HEIGHT / 2 + shift;
    const y2 = to.y + HEIGHT / 2 + shift;
    const bend = (x2 - x1) / 2;
    path = `M ${x1} ${y1} C ${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  } else {
    const below = dy > 0;
    const sideways = Math.abs(dx) > WIDTH * 0.8 && !inCycle;
    const x1 = sideways ? (dx > 0 ? from.x + WIDTH : from.x) : from.x + WIDTH / 2 + Math.sign(dx) * 40;
    const y1 = sideways ? from.y + HEIGHT / 2 : below ? from.y + HEIGHT : from.y;
    const x2 = sideways ? (dx > 0 ? to.x : to.x + WIDTH) : to.x + WIDTH / 2 - Math.sign(dx) * 20;
    const y2 = sideways ? to.y + HEIGHT / 2 : below ? to.y : to.y + HEIGHT;
    path = sideways
      ? `M ${x1} ${y1} C ${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`
      : `M ${x1} ${y1} C ${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
  }
  const about = text("blocker.edge", { client: edge.client, thread: edge.thread, from: edge.from, to: edge.to }) + (edge.certain ? "" : text("blocker.outdated"));
  return svg("path", { d: path, class: "arrow" + (inCycle ? " ring" : "") + (edge.certain ? "" : " uncertain"), "marker-end": inCycle ? "url(#tip-ring)" : "url(#tip)" },
    svg("title", {}, about + " (" + duration(edge.forMillis) + ")"));
}

function tips() {
  const tip = id => svg("marker", { id, class: id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
    svg("path", { d: "M 0 0 L 10 5 L 0 10 z" }));
  return svg("defs", {}, tip("tip"), tip("tip-ring"));
}

function draw(placed, kind) {
  const at = new Map(placed.nodes.map(each => [each.lock.name, each]));
  const ring = new Set(placed.cycle.map(edge => edge.from + "\u0000" + edge.to));
  const nodes = placed.nodes.map(each => ({ ...each }));
  return svg("g", {},
    placed.edges.map(edge => arrow(edge, at.get(edge.from), at.get(edge.to), ring.has(edge.from + "\u0000" + edge.to))),
    nodes.map(each => node(each, kind)));
}

/** The picture of one blocker; a lock that blocks nothing but its own waiters needs none. */
export function smallGraph(blocker) {
  const placed = layout(blocker, 0);
  const width = placed.width + 2 * PAD;
  const height = placed.height + 2 * PAD;
  const more = blocker.more > 0 ? svg("text", { x: 0, y: placed.height + 12, class: "who" }, t("graph.more", { n: blocker.more })) : null;
  return svg("svg", { class: "graph small" + (width <= NARROW ? " narrow" : ""), viewBox: `${-PAD} ${-PAD} ${width} ${height}`, width: Math.min(width, 620), height: Math.min(width, 620) / width * height, role: "group", "aria-label": text("graph.label") },
    tips(), draw(placed, blocker.kind), more);
}

/** All blockers below each other; returns the picture and its size. */
export function bigGraph(blockers) {
  let y = 0;
  let width = 0;
  const groups = [];
  for (const blocker of blockers) {
    const placed = layout(blocker, y);
    groups.push(draw(placed, blocker.kind));
    width = Math.max(width, placed.width);
    y += placed.height + 44;
    if (blocker.more > 0) groups.push(svg("text", { x: 0, y: y - 26, class: "who" }, t("graph.more", { n: blocker.more })));
  }
  return { content: [tips(), ...groups], width: width + 2 * PAD, height: Math.max(y - 44, 0) + 2 * PAD, x: -PAD, y: -PAD };
}

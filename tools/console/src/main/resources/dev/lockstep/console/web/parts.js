// Pieces that several pages show: links to locks, sentences about blockers, tables.
import { h, t } from "./dom.js";
import { duration } from "./i18n.js";
import { smallGraph } from "./graph.js";

export function lockHref(namespace, name) {
  return "#/lock?namespace=" + encodeURIComponent(namespace) + "&name=" + encodeURIComponent(name);
}

export function lockLink(namespace, name) {
  return h("a", { class: "lock", href: lockHref(namespace, name), "data-focus": "lock " + namespace + " " + name }, name);
}

export function clientName(entry) {
  return h("span", { class: "client", title: entry.host + (entry.pid ? ", " + entry.pid : "") }, entry.client);
}

/** "41 calls wait, the longest for 3 min. order:42 is held by api-7, thread http-3, for 14 min." */
export function sentence(blocker) {
  const root = blocker.locks[0];
  const pieces = [];
  if (blocker.cycle.length > 0) {
    blocker.cycle.forEach((edge, i) => {
      pieces.push(i > 0 ? t("sep.semicolon") : "", t("blocker.edge", {
        client: h("span", { class: "client" }, edge.client),
        thread: h("span", { class: "thread" }, edge.thread),
        from: lockLink(edge.namespace, edge.from),
        to: lockLink(edge.namespace, edge.to)
      }), edge.certain ? "" : t("blocker.outdated"));
    });
    pieces.push(t("sep.stop"), t(blocker.kind === "deadlock" ? "blocker.never" : "blocker.once"), t("sep.stop"));
    pieces.push(t("blocker.waiters", { n: blocker.waiters }), t("sep.comma"), t("blocker.longest", { time: duration(blocker.longestMillis) }), t("sep.stop"));
    return pieces;
  }
  pieces.push(h("strong", {}, t("blocker.waiters", { n: blocker.waiters })), t("sep.comma"),
      t("blocker.longest", { time: duration(blocker.longestMillis) }), t("sep.stop"));
  const lock = lockLink(root.namespace, root.name);
  const holder = root.holder;
  if (!holder) pieces.push(t("blocker.free", { lock }));
  else pieces.push(t(root.holders > 1 ? "blocker.heldMany" : "blocker.held", {
    lock, n: root.holders, client: clientName(holder), thread: h("span", { class: "thread" }, holder.thread), age: duration(holder.ageMillis)
  }));
  pieces.push(t("sep.stop"));
  const others = blocker.locks.length - 1 + blocker.more;
  if (others > 0) pieces.push(t("blocker.chain", { n: others }), t("sep.stop"));
  return pieces;
}

/** A card for each blocker. */
export function blockerList(blockers, withGraphs) {
  return h("ol", { class: "blockers" }, blockers.map(blocker =>
    h("li", { class: "blocker " + blocker.kind },
      h("div", { class: "words" },
        h("span", { class: "tag" }, t("blocker." + blocker.kind)),
        h("p", {}, sentence(blocker))),
      withGraphs ? h("div", { class: "picture" }, smallGraph(blocker)) : null)));
}

/** A table whose cells are named, so that a phone can show each row as a card. */
export function table(label, columns, rows) {
  return h("table", { "aria-label": label, role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(column => h("th", { scope: "col", role: "columnheader", class: column.class, "aria-sort": column.sorted }, column.head ?? column.title)))),
    h("tbody", { role: "rowgroup" }, rows.map(row => h("tr", { class: row.class, role: "row" }, row.cells.map((cell, i) =>
      h("td", { role: "cell", class: columns[i].class, "data-title": columns[i].title }, cell))))));
}

export function modeText(entry, limit) {
  const words = limit ? [t("mode.permits", { n: entry.permits })] : [t("mode." + entry.mode)];
  if (entry.sticky) words.push(t("sep.comma"), t("mode.sticky"));
  return words;
}

export function empty(key, values) {
  return h("p", { class: "empty" }, t(key, values));
}

// The page Now: totals, blockers, all locks. And the page Graph, which shows the same blockers as one picture.
import { h, svg, t, update } from "./dom.js";
import { duration, number, text } from "./i18n.js";
import { blockerList, clientName, empty, lockLink, sentence, table } from "./parts.js";
import { bigGraph } from "./graph.js";

const MORE = 100;
/** How much smaller than usual the text of the picture may be at first. */
const READABLE = 1.5;

export function nowPage(main, state) {
  const query = state.query;
  let limit = MORE;
  let sort = "";
  const totals = h("dl", { class: "totals" });
  const blockers = h("div");
  const rows = h("div", { class: "rows" });
  const rest = h("p", { class: "hint" });
  const count = h("span", { class: "count", role: "status" });
  const namespace = h("select", { id: "namespace", change: () => change({ namespace: namespace.value }) });
  const search = h("input", {
    id: "search", type: "search", value: query.prefix ?? "", autocomplete: "off", spellcheck: "false",
    input: () => change({ prefix: search.value })
  });
  const more = h("button", { type: "button", class: "more", click: () => { limit += 4 * MORE; state.refresh(); } }, t("locks.more"));
  main.append(
    h("h1", { class: "hidden" }, t("nav.now")),
    totals,
    h("section", { "aria-labelledby": "blockers-title" },
      h("div", { class: "head" }, h("h2", { id: "blockers-title" }, t("blockers.title")), h("span", { class: "hint" }, t("blockers.order"))),
      blockers),
    h("section", { "aria-labelledby": "locks-title" },
      h("div", { class: "head" },
        h("h2", { id: "locks-title" }, t("locks.title")), count,
        h("div", { class: "filters" },
          h("label", { for: "namespace" }, t("locks.namespace")), namespace,
          h("label", { for: "search" }, t("locks.search")), search)),
      rows, more, rest));

  function change(values) {
    limit = MORE;
    state.setQuery(values);
  }

  function header(key, order, direction = "descending") {
    return {
      title: text(key), sorted: sort === order ? direction : undefined,
      head: h("button", { type: "button", class: "sort", "data-key": order + sort, "data-focus": "sort " + order, title: text("sort.by", { column: text(key) }),
        click: () => { sort = order; state.refresh(); } }, t(key), sort !== order ? "" : direction === "ascending" ? " ↑" : " ↓")
    };
  }

  return {
    path: () => "api/now?" + new URLSearchParams({ prefix: query.prefix ?? "", namespace: query.namespace ?? "", sort, limit }),
    show(data) {
      const { held, waiting, deadlocks } = data.totals;
      update(totals, [
        total("total.held", held), total("total.waiting", waiting, waiting > 0 ? "warm" : ""),
        total("total.blockers", data.totals.blockers, data.totals.blockers > 0 ? "warm" : ""),
        total("total.deadlocks", deadlocks, deadlocks > 0 ? "bad" : "")]);
      update(blockers, [data.blockers.length ? blockerList(data.blockers, true) : empty("blockers.none"),
        data.moreBlockers ? h("p", { class: "hint" }, t("blockers.more", { n: data.moreBlockers })) : null]);
      const several = data.namespaces.length > 1;
      update(namespace, [
        h("option", { value: "" }, t("locks.all")),
        data.namespaces.map(name => h("option", { value: name, selected: name === query.namespace }, name))]);
      namespace.value = query.namespace ?? "";
      const found = data.locks;
      update(count, [t("locks.shown", { shown: number(found.rows.length), total: number(found.total) })]);
      const cut = found.rows.length >= found.most && found.total > found.most;
      more.hidden = cut || found.rows.length >= found.total;
      update(rest, [cut ? t("locks.most", { n: number(found.most) }) : ""]);
      if (found.total === 0) {
        update(rows, [empty(data.cost.truncated ? "locks.noneListed" : query.prefix ? "locks.noneMatch" : "locks.none")]);
        return;
      }
      const columns = [
        several ? { title: text("col.namespace") } : null,
        header("col.lock", "name", "ascending"), { title: text("col.holder") }, { title: text("col.thread") }, { ...header("col.held", "held"), class: "figure" },
        { ...header("col.waiters", "waiters"), class: "figure" }, { title: text("col.longest"), class: "figure" }, { title: text("col.waits") }
      ].filter(Boolean);
      update(rows, [table(text("locks.title"), columns, found.rows.map(row => lockRow(row, several)))]);
    }
  };
}

function total(key, value, kind) {
  return h("div", { class: kind ?? "" }, h("dt", {}, t(key)), h("dd", {}, number(value)));
}

function lockRow(row, several) {
  const holder = row.holder;
  const cells = [
    lockLink(row.namespace, row.name),
    holder ? [clientName(holder), row.holders > 1 ? h("span", { class: "hint" }, " ", t("holder.more", { n: row.holders - 1 })) : null] : h("span", { class: "hint" }, t("holder.free")),
    holder ? h("span", { class: "thread" }, holder.thread) : "",
    holder ? duration(holder.ageMillis) : "",
    row.waiters > 0 ? h("b", {}, number(row.waiters)) : "0",
    row.waiters > 0 ? duration(row.longestMillis) : "",
    holder?.waitsFor ? lockLink(row.namespace, holder.waitsFor.lock) : ""
  ];
  if (several) cells.unshift(row.namespace);
  return { cells, class: row.waiters > 0 ? "contended" : "" };
}

export function graphPage(main, state) {
  const picture = svg("svg", { class: "graph big", tabindex: "0", role: "group", "aria-label": text("graph.label") });
  const texts = h("div");
  const rest = h("p", { class: "hint" });
  const none = h("div");
  let size = { x: 0, y: 0, width: 100, height: 100 };
  let box = null;
  const buttons = h("div", { class: "filters" },
    h("button", { type: "button", "aria-label": text("graph.in"), title: text("graph.in"), click: () => zoom(0.8) }, "+"),
    h("button", { type: "button", "aria-label": text("graph.out"), title: text("graph.out"), click: () => zoom(1.25) }, "−"),
    h("button", { type: "button", click: () => fit() }, t("graph.fit")));
  const frame = h("div", { class: "frame" }, picture);
  main.append(
    h("div", { class: "head" }, h("h1", {}, t("graph.title")), buttons),
    h("p", { class: "hint" }, t("graph.help"), t("sep.space"), t("graph.uncertain")),
    none, frame, rest,
    h("details", {}, h("summary", {}, t("graph.list")), texts));

  function view() {
    if (box) picture.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  }

  function fit(most = Infinity) {
    const rect = frame.getBoundingClientRect();
    const whole = Math.max(size.width / Math.max(rect.width, 1), size.height / Math.max(rect.height, 1), 0.75);
    const scale = Math.min(whole, most);
    const width = scale * rect.width;
    const height = scale * rect.height;
    box = { x: size.x - Math.max(0, (width - size.width) / 2), y: size.y - Math.max(0, Math.min(24, height - size.height)), width, height };
    view();
  }

  function zoom(factor, x = box.x + box.width / 2, y = box.y + box.height / 2) {
    const width = Math.min(Math.max(box.width * factor, 120), 40000);
    const real = width / box.width;
    box = { x: x - (x - box.x) * real, y: y - (y - box.y) * real, width, height: box.height * real };
    view();
  }

  function move(dx, dy) {
    box = { ...box, x: box.x + dx * box.width, y: box.y + dy * box.height };
    view();
  }

  picture.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const rect = picture.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.1 : 0.9, box.x + (event.clientX - rect.left) / rect.width * box.width, box.y + (event.clientY - rect.top) / rect.height * box.height);
  }, { passive: false });
  picture.addEventListener("keydown", event => {
    const act = { "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), "0": () => fit(),
      ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1) }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  let dragged = null;
  let moved = false;
  picture.addEventListener("pointerdown", event => {
    dragged = { x: event.clientX, y: event.clientY };
    moved = false;
  });
  picture.addEventListener("pointermove", event => {
    if (!dragged || !(event.buttons & 1) || !moved && Math.hypot(event.clientX - dragged.x, event.clientY - dragged.y) < 4) return;
    moved = true;
    const rect = picture.getBoundingClientRect();
    move((dragged.x - event.clientX) / rect.width, (dragged.y - event.clientY) / rect.height);
    dragged = { x: event.clientX, y: event.clientY };
  });
  picture.addEventListener("pointerup", () => {
    dragged = null;
  });
  // A drag that begins on a lock moves the picture, neither the link nor on to the lock's page.
  picture.addEventListener("dragstart", event => event.preventDefault());
  picture.addEventListener("click", event => {
    if (moved) event.preventDefault();
  }, true);

  return {
    path: () => "api/graph",
    show(data) {
      frame.hidden = data.groups.length === 0;
      update(none, data.groups.length ? [] : [empty("graph.none")]);
      const drawn = bigGraph(data.groups);
      size = drawn;
      update(picture, drawn.content);
      update(rest, [data.more ? t("graph.moreGroups", { n: number(data.more) }) : ""]);
      if (!box && data.groups.length) fit(READABLE);
      update(texts, [h("ul", {}, data.groups.map(blocker => h("li", {}, h("b", {}, t("blocker." + blocker.kind)), ": ", sentence(blocker))))]);
    }
  };
}

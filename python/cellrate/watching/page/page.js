// Shows a run while it goes on: panels of series, the pace, and in the end its figures.
"use strict";

const HEIGHT = 190; // of a panel [CSS pixels]
const element = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en-US");

// What the table of ports counts where there is any.
const PORT_COUNTS = {
  pdus_refused: "PDUs refused",
  pdus_cut: "PDUs cut",
  backward_rm_originated: "BRMs originated",
};

let head = null;
let panels = [];
let pace = { speed: null, paused: false };
let isDue = false;
let isOver = false;
let room = 64; // of the numbers at the vertical axes, the same for all panels so that they share their time [CSS pixels]

function seconds(value) {
  if (value >= 1 || value === 0) return `${value.toFixed(3)} s`;
  return value >= 1e-3 ? `${(value * 1e3).toFixed(2)} ms` : `${(value * 1e6).toFixed(1)} us`;
}

// Two lines share their instants where all are sampled at the same interval; else instants of all are put together.
function columns(panel, now) {
  const tables = panel.lines.map((line) => {
    const last = line.times.length - 1;
    // A value that holds until it changes holds now.
    if (line.changes && last >= 0 && line.times[last] < now) {
      return [line.times.concat(now), line.values.concat(line.values[last])];
    }
    return [line.times, line.values];
  });
  const [first] = tables;
  const alike = tables.every(([times]) => times.length === first[0].length) && panel.lines.every((line) => !line.changes);
  return alike ? [first[0], ...tables.map(([, values]) => values)] : uPlot.join(tables);
}

function levels(panel) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([6, 6]);
    ctx.globalAlpha = 0.6;
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    panel.lines.forEach((line, index) => {
      if (line.level === null || !plot.series[index + 1].show) return;
      const y = plot.valToPos(line.level * panel.scale, "y", true);
      ctx.strokeStyle = line.colour;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    });
    ctx.restore();
  };
}

// As much as the longest number at any of them has needed.
function roomFor(plot, texts, index, cycle) {
  const axis = plot.axes[index];
  // Sizes of both axes are settled in turns; a number more or less is no reason to begin again.
  if (cycle > 1) return axis._size;
  plot.ctx.save();
  [plot.ctx.font] = axis.font;
  const widths = (texts ?? []).map((text) => plot.ctx.measureText(text).width / devicePixelRatio);
  plot.ctx.restore();
  room = Math.max(room, Math.ceil(axis.ticks.size + axis.gap + Math.max(0, ...widths)) + 4);
  return room;
}

function build(panel) {
  const place = document.createElement("div");
  place.className = "panel";
  element("panels").append(place);
  panel.lines.forEach((line) => { line.times = []; line.values = []; });
  const shown = (value) => (value == null ? "" : value.toLocaleString("en-US", { maximumSignificantDigits: 5 }));
  const series = panel.lines.map((line) => ({
    label: line.label,
    stroke: line.colour,
    width: 1.25,
    spanGaps: true,
    points: { show: false },
    // A sample stands for the interval that it ends, a change for what follows.
    paths: uPlot.paths.stepped({ align: line.changes ? 1 : -1 }),
    value: (plot, value) => shown(value),
  }));
  const top = (plot, low, high) => (panel.top === null ? [0, high > 0 ? high * 1.05 : 1] : [0, panel.top]);
  panel.plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
      scales: { x: { time: false, range: (plot, low, high) => panel.zoom ?? [0, head.duration_s] }, y: { range: top } },
      axes: [
        { label: panel === head.panels.at(-1) ? "time [s]" : undefined, labelSize: 18 },
        { label: panel.axis, size: roomFor, labelSize: 18 },
      ],
      series: [{ label: "time [s]", value: (plot, value) => (value == null ? "" : value.toFixed(6)) }, ...series],
      hooks: {
        draw: [levels(panel)],
        setSelect: [(plot) => {
          if (plot.select.width > 0) {
            const from = plot.posToVal(plot.select.left, "x");
            zoom([from, plot.posToVal(plot.select.left + plot.select.width, "x")]);
          }
        }],
        ready: [(plot) => plot.over.addEventListener("dblclick", () => zoom(null))],
      },
    },
    [[], ...panel.lines.map(() => [])],
    place,
  );
  panel.place = place;
}

function zoom(range) {
  panels.forEach((panel) => { panel.zoom = range; });
  draw();
}

function draw() {
  isDue = false;
  const now = Number(element("done").value) * head.duration_s;
  const before = room;
  panels.forEach((panel) => panel.plot.setData(columns(panel, now)));
  // They are drawn when this function has come to its end.
  queueMicrotask(() => {
    if (room > before) panels.forEach((panel) => panel.plot.redraw(false, true));
  });
}

function drawSoon() {
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(draw);
  }
}

function showPace() {
  if (head.live) {
    element("speed").textContent = "live";
    return;
  }
  element("pause").textContent = pace.paused ? "Go on" : "Pause";
  const speed = pace.speed === null ? "as fast as it goes" : `${seconds(pace.speed)} per second`;
  element("speed").textContent = pace.paused ? "stands still" : speed;
}

async function ask(wanted) {
  const answer = await fetch("pace", { method: "POST", body: JSON.stringify(wanted) });
  if (!answer.ok) return;
  pace = await answer.json();
  // The run may have ended in the meantime.
  if (!isOver) showPace();
}

function table(rows, columns) {
  const drawn = document.createElement("table");
  const line = (cells, kind) => {
    const row = drawn.insertRow();
    cells.forEach((text) => {
      const cell = document.createElement(kind);
      cell.textContent = text;
      row.append(cell);
    });
  };
  line(columns.map(([title]) => title), "th");
  rows.forEach((row) => line(columns.map(([, of]) => of(row)), "td"));
  return drawn;
}

function showFigures({ run, vcs, ports, virtual_sources: virtual }) {
  const mbps = (cells) => (cells === null ? "" : (cells * 424 / 1e6).toFixed(2));
  const ms = (s) => (s === null ? "" : (s * 1e3).toFixed(3));
  element("figures").replaceChildren(
    table(vcs, [
      ["VC", (row) => row.vc],
      ["data sent [cells]", (row) => count.format(row.data_sent)],
      ["delivered [cells]", (row) => count.format(row.data_delivered)],
      ["dropped", (row) => count.format(row.dropped)],
      ["throughput [Mbps]", (row) => (row.throughput_bps / 1e6).toFixed(2)],
      ["mean ACR [Mbps]", (row) => mbps(row.mean_acr)],
      ["p99 delay [ms]", (row) => ms(row.p99_delay_s)],
    ]),
    table(ports, [
      ["port", (row) => row.port],
      ["utilization [%]", (row) => (row.utilization * 100).toFixed(1)],
      ["max queue [cells]", (row) => count.format(row.max_queue)],
      ["mean queue [cells]", (row) => row.mean_queue.toFixed(1)],
      ["dropped", (row) => count.format(row.dropped)],
      ...Object.entries(PORT_COUNTS)
        .filter(([key]) => ports.some((row) => row[key]))
        .map(([key, title]) => [title, (row) => count.format(row[key])]),
    ]),
    ...(virtual.length ? [table(virtual, [
      ["virtual source", (row) => `${row.vc} at ${row.switch}`],
      ["data sent [cells]", (row) => count.format(row.data_sent)],
      ["max queue [cells]", (row) => count.format(row.max_queue)],
      ["mean queue [cells]", (row) => row.mean_queue.toFixed(1)],
      ["mean ACR [Mbps]", (row) => mbps(row.mean_acr)],
    ])] : []),
  );
  element("figures").hidden = false;
  document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  element("speed").textContent = "the run has ended";
  element("now").textContent = `${seconds(run.duration_s)}, ${count.format(run.cell_hops)} cell hops`;
}

function begin(told) {
  head = told;
  document.title = `${head.name} - cellrate`;
  element("name").textContent = head.name;
  element("purpose").textContent = head.purpose;
  element("stamp").textContent = head.stamp;
  document.querySelectorAll("button").forEach((button) => { button.hidden = head.live; });
  element("panels").replaceChildren();
  panels = head.panels;
  panels.forEach((panel) => { panel.zoom = null; build(panel); });
  element("dashed").hidden = !panels.some((panel) => panel.lines.some((line) => line.level !== null));
}

function goOn(more) {
  panels.forEach((panel) => panel.lines.forEach((line) => {
    const [times, values] = more.series[line.series] ?? [[], []];
    for (const time of times) line.times.push(time);
    for (const value of values) line.values.push(value === null ? null : value * panel.scale);
  }));
  element("done").value = more.now_s / head.duration_s;
  element("now").textContent = `${seconds(more.now_s)} of ${seconds(head.duration_s)}`;
  pace = { speed: more.speed, paused: more.paused };
  showPace();
  drawSoon();
  if (more.figures) {
    isOver = true;
    showFigures(more.figures);
  }
}

// Of event sources and other requests a browser has six at a time, for all its pages together.
const place = new URL("events", location.href);
place.protocol = place.protocol.replace("http", "ws");
const events = new WebSocket(place);

events.addEventListener("message", ({ data }) => {
  const told = JSON.parse(data);
  if (told.head) begin(told.head);
  else goOn(told.more);
});

// A run that was ended before its time.
events.addEventListener("close", () => {
  if (isOver) return;
  isOver = true;
  element("speed").textContent = "the run has been ended";
  document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
});

element("pause").addEventListener("click", () => ask({ paused: !pace.paused }));
element("slower").addEventListener("click", () => ask({ speed: (pace.speed ?? head.duration_s / 2) / 2 }));
element("faster").addEventListener("click", () => ask({ speed: pace.speed === null ? null : pace.speed * 2 }));
element("fastest").addEventListener("click", () => ask({ speed: null }));
window.addEventListener("resize", () => {
  panels.forEach((panel) => panel.plot.setSize({ width: panel.place.clientWidth, height: HEIGHT }));
});

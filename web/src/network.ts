// The picture of the network: switches, hosts and links; queues as bars, rates as widths, and cells on their way.

import { CELL_BITS } from "./kinds";
import { bits, digits, made, seconds } from "./format";
import { placed } from "./layout";
import type { Head } from "./model";
import { type Store, until } from "./store";

/** Room that a data cell and an RM cell have at least on a link [CSS pixels]: of more, some are drawn. */
const DATA_ROOM = 5;
const RM_ROOM = 12;
/** Links of the largest network that is drawn, and most ports that are told in words. */
const MOST_LINKS = 2000;
const MOST_LISTED = 200;
/** Cells in a queue that stand for a full bar. */
const FULL = 1000;

/** Numbers of series by port (twice the place of its link plus its end), and by the place of a connection. */
interface State {
  queue: Record<number, number>;
  utilization: Record<number, number>;
  acr: Record<number, number>;
}

/** Which series tell what of the network; of several the last, which is taken at the shortest interval. */
function stateOf({ topology: { nodes, links, vcs }, series }: Head): State {
  const found: State = { queue: {}, utilization: {}, acr: {} };
  const ports = new Map<string, number>();
  links.forEach(({ ends }, link) => {
    ports.set(`${nodes[ends[0]].name}->${nodes[ends[1]].name}`, 2 * link);
    ports.set(`${nodes[ends[1]].name}->${nodes[ends[0]].name}`, 2 * link + 1);
  });
  const connections = new Map(vcs.map((vc, place) => [vc.name, place]));
  series.forEach(([probe, entity], place) => {
    const port = ports.get(entity);
    const vc = connections.get(entity);
    if (probe === "queue" && port !== undefined) found.queue[port] = place;
    if (probe === "utilization" && port !== undefined) found.utilization[port] = place;
    if (probe === "acr" && vc !== undefined) found.acr[vc] = place;
  });
  return found;
}

/** Kinds of cells, by the lowest three bits of their word. */
const EFCI = 1;
const FORWARD_RM = 2;
const BACKWARD_RM = 4;

/** The picture, on a canvas. */
export class Network {
  private readonly context: CanvasRenderingContext2D;
  private store: Store | null = null;
  /** Ports whose state is known, or that carry connections. */
  private shown: number[] = [];
  private places: { x: number; y: number }[] = [];
  /** The network whose places those are. */
  private laid = "";
  private state: State = { queue: {}, utilization: {}, acr: {} };
  /** Places of the connections that leave by a port. */
  private through = new Map<number, number[]>();
  private pointed: { x: number; y: number } | null = null;
  private due = false;
  private fewer = 1;
  /** Called with how many cells stand for one that is drawn, at most. */
  onFewer: (cells: number) => void = () => {};
  /** The instant that is shown, where that is not the last one. */
  at: number | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tip: HTMLElement,
    private readonly list: HTMLElement,
  ) {
    this.context = canvas.getContext("2d")!;
    new ResizeObserver(() => this.update()).observe(canvas);
    canvas.addEventListener("pointermove", (event) => {
      this.pointed = { x: event.offsetX, y: event.offsetY };
      this.update();
    });
    canvas.addEventListener("pointerleave", () => {
      this.pointed = null;
      this.update();
    });
  }

  /** Shows another run. */
  take(store: Store): void {
    const { topology } = store.head;
    const isLarge = topology.links.length > MOST_LINKS;
    const laid = isLarge ? "" : JSON.stringify([topology.nodes, topology.links.map(({ ends }) => ends), topology.vcs.map(({ path }) => path)]);
    if (isLarge) this.places = [];
    else if (laid !== this.laid) this.places = placed(topology);
    this.laid = laid;
    this.store = store;
    this.state = stateOf(store.head);
    this.through = new Map();
    topology.vcs.forEach((vc, place) =>
      new Set(vc.ports).forEach((port) => {
        const found = this.through.get(port);
        if (found) found.push(place);
        else this.through.set(port, [place]);
      }),
    );
    this.shown = this.ports();
    const columns = new Map<number, number>();
    this.places.forEach(({ x }) => columns.set(x, (columns.get(x) ?? 0) + 1));
    this.canvas.style.height = `${Math.min(Math.max(150, 26 * [...columns.values()].reduce((most, one) => Math.max(most, one), 1) + 60), 420)}px`;
    this.update();
  }

  /** Draws soon, however often it is called. */
  update(): void {
    if (this.due || !this.store) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.draw();
    });
  }

  /** Values of all ports at the instant that is shown, for those who do not see the picture. */
  listed(): void {
    if (!this.store) return;
    const { store } = this;
    const now = this.at ?? store.now_s;
    const told = this.shown.slice(0, MOST_LISTED).map((port) => this.told(port, now));
    const rest = this.shown.length - told.length;
    if (rest) told.push(`and ${digits(rest)} more`);
    this.list.replaceChildren(...told.map((text) => made("li", "", text)));
  }

  /** Shows nothing, because nothing of the scenario is known. */
  clear(): void {
    this.store = null;
    [this.places, this.laid] = [[], ""];
    this.list.replaceChildren();
    this.tip.hidden = true;
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Ports whose state is known, or that carry connections. */
  private ports(): number[] {
    const picture = this.state;
    const known = new Set<number>([...Object.keys(picture.queue), ...Object.keys(picture.utilization)].map(Number));
    for (const port of this.through.keys()) known.add(port);
    return [...known].sort((a, b) => a - b);
  }

  private value(series: number | undefined, now: number): number | null {
    return series === undefined ? null : this.store!.track(series).at(now);
  }

  private name(port: number): string {
    const { nodes, links } = this.store!.head.topology;
    const { ends } = links[port >> 1];
    return `${nodes[ends[port & 1]].name}->${nodes[ends[1 - (port & 1)]].name}`;
  }

  private told(port: number, now: number): string {
    const picture = this.state;
    const { topology } = this.store!.head;
    const link = topology.links[port >> 1];
    const [queue, utilization] = [this.value(picture.queue[port], now), this.value(picture.utilization[port], now)];
    const parts = [`${this.name(port)}: ${bits(link.rate_bps)}, ${seconds(link.delay_s)}`];
    if (queue !== null) parts.push(`queue ${digits(queue)} cells`);
    if (utilization !== null) parts.push(`${digits(utilization * 100)} % used`);
    const through = this.through.get(port) ?? [];
    if (through.length && through.length <= 6) {
      parts.push(
        through
          .map((place) => {
            const { name } = topology.vcs[place];
            const acr = this.value(picture.acr[place], now);
            return acr === null ? name : `${name} ACR ${bits(acr * CELL_BITS)}`;
          })
          .join(", "),
      );
    } else if (through.length) parts.push(`${through.length} connections`);
    return parts.join("; ");
  }

  private draw(): void {
    const { canvas, context, store } = this;
    if (!store) return;
    const ratio = devicePixelRatio;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const paints = new Map<string, string>();
    // Asked for each cell.
    const paint = (name: string): string => {
      let found = paints.get(name);
      if (found === undefined) paints.set(name, (found = style.getPropertyValue(name).trim()));
      return found;
    };
    const picture = this.state;
    const { topology } = store.head;
    const now = this.at ?? store.now_s;
    if (!this.places.length) {
      context.fillStyle = paint("--faint");
      context.font = "13px system-ui, sans-serif";
      context.textAlign = "center";
      context.fillText(`A network of ${digits(topology.links.length)} links is not drawn.`, width / 2, height / 2);
      return;
    }
    const margin = { x: Math.min(60, width / 8), y: 30 };
    const spot = (node: number): { x: number; y: number } => ({
      x: margin.x + this.places[node].x * (width - 2 * margin.x),
      y: margin.y + this.places[node].y * (height - 2 * margin.y),
    });
    let nearest: { port: number; distance: number } | null = null;
    const near = (port: number, x: number, y: number): void => {
      if (!this.pointed) return;
      const distance = Math.hypot(this.pointed.x - x, this.pointed.y - y);
      if (distance < 16 && (!nearest || distance < nearest.distance)) nearest = { port, distance };
    };
    this.fewer = 1;
    const carries = new Set(this.shown);
    topology.links.forEach((link, number) => {
      const [a, b] = link.ends.map(spot);
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      // Each direction keeps to its right.
      const [nx, ny] = [(a.y - b.y) / length, (b.x - a.x) / length];
      for (const end of [0, 1]) {
        const port = 2 * number + end;
        if (!carries.has(port)) continue;
        const side = end ? -3 : 3;
        const [from, to] = (end ? [b, a] : [a, b]).map((at) => ({ x: at.x + nx * side, y: at.y + ny * side }));
        const used = this.value(picture.utilization[port], now);
        const queue = this.value(picture.queue[port], now) ?? 0;
        context.strokeStyle = queue > FULL / 2 ? paint("--hot") : queue > 50 ? paint("--warm") : paint("--calm");
        context.globalAlpha = used === null ? 0.5 : 0.35 + 0.65 * Math.min(1, used);
        context.lineWidth = used === null ? 1.5 : 1 + 4 * Math.min(1, used);
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
        context.stroke();
        context.globalAlpha = 1;
        this.cells(port, from, to, link.delay_s, now, paint);
        const bar = Math.min(1, Math.log1p(queue) / Math.log1p(FULL)) * 34;
        if (bar > 0) {
          // It stands where its cells wait: beside the node that they leave.
          const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length];
          const foot = { x: from.x + dx * 20 + nx * side * 1.5, y: from.y + dy * 20 + ny * side * 1.5 };
          context.strokeStyle = queue > FULL / 2 ? paint("--hot") : queue > 50 ? paint("--warm") : paint("--data");
          context.lineWidth = 7;
          context.beginPath();
          context.moveTo(foot.x, foot.y);
          context.lineTo(foot.x + dx * bar, foot.y + dy * bar);
          context.stroke();
        }
        for (let part = 0.08; part < 1; part += 0.06) near(port, from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part);
      }
    });
    const many = topology.nodes.length > 40;
    context.font = `${many ? 9 : 12}px system-ui, sans-serif`;
    context.textAlign = "center";
    topology.nodes.forEach((node, number) => {
      const { x, y } = spot(number);
      const size = many ? 3 : node.is_host ? 5 : 9;
      context.fillStyle = node.is_host ? paint("--host") : paint("--switch");
      context.beginPath();
      if (node.is_host) context.arc(x, y, size, 0, 2 * Math.PI);
      else context.rect(x - size, y - size, 2 * size, 2 * size);
      context.fill();
      if (many && node.is_host) return;
      context.fillStyle = paint("--ink");
      if (node.is_host && this.places[number].x === 0) {
        context.textAlign = "right";
        context.fillText(node.name, x - size - 4, y + 4);
      } else if (node.is_host && this.places[number].x === 1) {
        context.textAlign = "left";
        context.fillText(node.name, x + size + 4, y + 4);
      } else {
        context.textAlign = "center";
        context.fillText(node.name, x, y - size - 5);
      }
    });
    this.onFewer(this.fewer);
    const found = nearest as { port: number } | null;
    this.tip.hidden = !found;
    if (found && this.pointed) {
      this.tip.textContent = this.told(found.port, now);
      this.tip.style.left = `${Math.min(this.pointed.x + 12, Math.max(0, width - 260))}px`;
      this.tip.style.top = `${this.pointed.y + 16}px`;
    }
  }

  /** Cells on a link, each as far as it has come. */
  private cells(port: number, from: { x: number; y: number }, to: { x: number; y: number }, delay: number, now: number, paint: (name: string) => string): void {
    const departures = this.store!.departures.get(port);
    if (!departures || !(delay > 0)) return;
    const [first, last] = [until(departures.at, now - delay), until(departures.at, now)];
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    let rms = 0;
    for (let place = first; place < last; place += 1) if ((departures.cells[place] & 7) >= FORWARD_RM) rms += 1;
    // Powers of two, so that those that are drawn stay when they become fewer or more.
    const every = (count: number, room: number): number => 2 ** Math.max(0, Math.ceil(Math.log2((count * room) / length)));
    const [ofData, ofRms] = [every(last - first - rms, DATA_ROOM), every(rms, RM_ROOM)];
    this.fewer = Math.max(this.fewer, ofData, ofRms);
    for (let place = first; place < last; place += 1) {
      const kind = departures.cells[place] & 7;
      const rm = kind >= FORWARD_RM;
      if (departures.cells[place] & 8 || departures.numbers[place] % (rm ? ofRms : ofData)) continue;
      const part = (now - departures.at[place]) / delay;
      const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
      this.context.fillStyle = kind >= BACKWARD_RM ? paint(kind & 3 ? "--hot" : "--brm") : kind === FORWARD_RM ? paint("--frm") : kind === EFCI ? paint("--warm") : paint("--data");
      const size = rm ? 3.5 : 1.6;
      this.context.beginPath();
      this.context.arc(x, y, size, 0, 2 * Math.PI);
      this.context.fill();
    }
  }
}

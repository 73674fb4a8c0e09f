// A run of `cellrate watch` or `cellrate live watch`, behind a WebSocket at the page's own address.

import type { Head, Listener, Pace, Summary } from "./model";

interface Message {
  head?: Head;
  more?: {
    now_s: number;
    series: Record<string, [number[], (number | null)[]]>;
    speed?: number | null;
    paused?: boolean;
    figures?: Summary;
  };
  pace?: Required<Pace>;
  error?: string;
}

/** The run, as it is told. */
export class Remote {
  private readonly socket: WebSocket;
  private over = false;

  constructor(address: string, listener: Listener) {
    const place = new URL("events", address);
    place.protocol = place.protocol.replace("http", "ws");
    this.socket = new WebSocket(place);
    let pace: Required<Pace> = { speed: null, paused: false };
    this.socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const { head, more, pace: set, error } = JSON.parse(data) as Message;
      if (head) listener.head(head);
      if (error) listener.failed({ message: error });
      if (set) {
        pace = set;
        // The run may have ended in the meantime.
        if (!this.over) listener.more({ now_s: -1, series: [], cells: [], ...pace });
      }
      if (!more) return;
      pace = { speed: more.speed ?? null, paused: more.paused ?? false };
      const series = Object.entries(more.series).map(([place, [times, values]]) => [Number(place), times, values] as [number, number[], (number | null)[]]);
      listener.more({ now_s: more.now_s, series, cells: [], ...pace });
      if (more.figures) {
        this.over = true;
        listener.end(more.figures);
      }
    });
    this.socket.addEventListener("close", () => listener.gone(!this.over));
  }

  /** Asks for another pace. */
  pace(pace: Pace): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(pace));
  }
}

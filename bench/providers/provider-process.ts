/** The process that simulates the providers, and its control over HTTP. */
import {
  type MethodCount,
  type ProviderBehaviour,
  type ProviderStats,
  type ReplayShape,
} from '../replay/index.js';
import { portIn } from '../support/api-program.js';
import { Program } from '../support/program.js';

export class ProviderProcess {
  private constructor(
    readonly program: Program,
    private readonly urls: readonly string[],
  ) {}

  static async start(
    shape: ReplayShape,
    {
      logFile,
      tracksRepeats = false,
    }: { readonly logFile: string; readonly tracksRepeats?: boolean },
  ): Promise<ProviderProcess> {
    const program = Program.start('dist/bench/providers/provider.program.js', {
      args: [JSON.stringify(shape), tracksRepeats ? 'yes' : 'no'],
      logFile,
    });
    const urls: string[] = [];
    for (const name of ['first', 'second'])
      urls.push(
        `http://127.0.0.1:${await portIn(program, new RegExp(`${name} provider on \\S+:(\\d+)`))}`,
      );
    return new ProviderProcess(program, urls);
  }

  /** Sets the behaviour of each endpoint and resets the counters. @returns the URLs of the endpoints */
  async behave(endpoints: readonly ProviderBehaviour[]): Promise<readonly string[]> {
    for (const [index, url] of this.urls.entries())
      await control(`${url}/-/behaviour`, 'PUT', JSON.stringify(endpoints[index] ?? {}));
    await this.reset();
    return this.urls.slice(0, endpoints.length);
  }

  async reset(): Promise<void> {
    for (const url of this.urls) await control(`${url}/-/reset`, 'POST');
  }

  async extend(blocks: number): Promise<void> {
    await control(`${this.urls[0] ?? ''}/-/extend?blocks=${blocks}`, 'POST');
  }

  stats(): Promise<ProviderStats[]> {
    return Promise.all(this.urls.map((url) => control(`${url}/-/stats`, 'GET')));
  }

  /** The counters of all endpoints together. */
  async bill(): Promise<Bill> {
    const all = await this.stats();
    const of = (pick: (method: string) => boolean, part: keyof MethodCount): number =>
      all
        .flatMap(({ byMethod }) => Object.entries(byMethod))
        .filter(([method]) => pick(method))
        .reduce((sum, [, counts]) => sum + counts[part], 0);
    const isHeader = (method: string): boolean => method.startsWith('eth_getBlockBy');
    const any = (): boolean => true;
    return {
      requests: all.reduce((sum, { requests }) => sum + requests, 0),
      calls: of(any, 'calls'),
      refused: of(any, 'refused'),
      failed: of(any, 'failed'),
      logs: of((method) => method === 'eth_getLogs', 'calls'),
      headers: of(isHeader, 'calls'),
      views: of((method) => method === 'eth_call', 'calls'),
      receipts: of((method) => method === 'eth_getBlockReceipts', 'calls'),
      computeUnits: all.reduce((sum, { computeUnits }) => sum + computeUnits, 0),
      firstRequestAtMs: Math.min(...all.map(({ firstRequestAtMs = Infinity }) => firstRequestAtMs)),
      mostInFlight: Math.max(...all.map(({ mostInFlight }) => mostInFlight)),
    };
  }

  stop(): Promise<void> {
    return this.program.stop();
  }
}

/** The calls that arrived, and their price in compute units. */
export interface Bill {
  readonly requests: number;
  readonly calls: number;
  readonly refused: number;
  readonly failed: number;
  readonly logs: number;
  readonly headers: number;
  readonly views: number;
  readonly receipts: number;
  readonly computeUnits: number;
  readonly mostInFlight: number;
  /** Unix time in milliseconds. */
  readonly firstRequestAtMs: number;
}

async function control(url: string, method: string, body?: string): Promise<ProviderStats> {
  const response = await fetch(url, { method, ...(body !== undefined && { body }) });
  return (await response.json()) as ProviderStats;
}

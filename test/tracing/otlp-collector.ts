import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SeenSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Kind by the protocol: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly status?: { readonly code?: number };
        readonly attributes: Attributes;
      }[];
    }[];
  }[];
}

const LIMIT_MS = 30_000;

/** A collector that receives OTLP as JSON over HTTP and stores everything. With `silent` it never answers. */
export class OtlpCollector {
  readonly spans: SeenSpan[] = [];
  /** The request bodies as received; `paths` holds the request paths. */
  readonly bodies: string[] = [];
  readonly paths = new Set<string>();
  readonly authorizations = new Set<string | undefined>();

  private constructor(
    private readonly server: Server,
    private readonly silent: boolean,
  ) {}

  static async start({ silent = false } = {}): Promise<OtlpCollector> {
    const server = createServer();
    const collector = new OtlpCollector(server, silent);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        collector.take(request, body);
        if (collector.silent) return;
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits for a span that matches. */
  async seen(is: (span: SeenSpan) => boolean): Promise<SeenSpan> {
    for (let waitedMs = 0; waitedMs < LIMIT_MS; waitedMs += 50) {
      const span = this.spans.find(is);
      if (span) return span;
      await sleep(50);
    }
    throw new Error(`no such span; there are ${this.spans.map(({ name }) => name).join(', ')}`);
  }

  childrenOf({ traceId, spanId }: SeenSpan): SeenSpan[] {
    return this.spans.filter((one) => one.traceId === traceId && one.parentSpanId === spanId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private take(request: IncomingMessage, body: string): void {
    this.bodies.push(body);
    this.paths.add(request.url ?? '');
    this.authorizations.add(request.headers.authorization);
    const { resourceSpans } = JSON.parse(body) as Export;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(recordOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const { traceId, spanId, parentSpanId = '', name, kind, status } = span;
        const attributes = recordOf(span.attributes);
        const failed = status?.code === 2;
        this.spans.push({ service, traceId, spanId, parentSpanId, name, kind, failed, attributes });
      }
    }
  }
}

function recordOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain({ stringValue, intValue, boolValue, arrayValue }: Value): unknown {
  return stringValue ?? boolValue ?? arrayValue?.values.map(plain) ?? Number(intValue);
}

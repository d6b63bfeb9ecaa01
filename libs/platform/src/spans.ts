import { type IncomingHttpHeaders } from 'node:http';

/** What a span may say. Never a secret, a statement's parameter, a URL's query, or what others wrote. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface SpanStart {
  readonly name: string;
  /** `client`: we ask another program and wait. Default `internal`. */
  readonly kind?: 'client' | 'internal';
  readonly attributes?: SpanAttributes;
}

/** A span that is open. */
export interface OpenSpan {
  note(attributes: SpanAttributes): void;
  /** It failed, with a code of ours or a word; never with a message, which may quote what was asked. */
  fail(code: string): void;
}

/** Where traces are off. */
const NO_SPAN: OpenSpan = {
  note: () => undefined,
  fail: () => undefined,
};

/**
 * Spans, or nothing. Off until `startTracing` of #libs/telemetry has installed a tracer, which makes them with OpenTelemetry, and then for
 * the life of the process. What is called often asks `tracingIsOn` once, when it is put together, and changes nothing where it is off.
 */

/** The span of a request that is served. */
export interface RequestSpan extends OpenSpan {
  rename(name: string): void;
  /** What the work starts belongs to the span. */
  run<T>(work: () => T): T;
  end(): void;
}

export interface Tracer {
  inSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Whether the running code belongs to a span that is recorded and has not ended. */
  isInSpan(): boolean;
  /** Below the caller's span, where the headers name one. */
  serve(headers: IncomingHttpHeaders, name: string, attributes: SpanAttributes): RequestSpan;
  /** `traceId` and `spanId`, for a line of the log. */
  logFields(): object;
}

let installed: Tracer | undefined;

/** @param tracer undefined: none again */
export function installTracer(tracer: Tracer | undefined): void {
  installed = tracer;
}

export function installedTracer(): Tracer | undefined {
  return installed;
}

export function tracingIsOn(): boolean {
  return installed !== undefined;
}

/** Does the work in a span: below the one it is called in, else as the root of a trace. What it throws fails the span. */
export function inSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return installed === undefined ? work(NO_SPAN) : installed.inSpan(start, work);
}

/** The same, but only below a span that is open: for what is asked all day long, also in the background. */
export function inChildSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return installed?.isInSpan() === true ? installed.inSpan(start, work) : work(NO_SPAN);
}

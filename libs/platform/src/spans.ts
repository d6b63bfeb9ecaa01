/**
 * Spans, without effect until `startTracing` of #libs/telemetry installs a tracer based on OpenTelemetry, for the life
 * of the process. Frequently called code asks `tracingIsOn` once, when it is set up, and remains unchanged while
 * tracing is off.
 */
import { type IncomingHttpHeaders } from 'node:http';

/**
 * Attributes of a span. They must not contain a secret, a parameter of a statement, the query of a URL, or text that
 * others wrote.
 */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface SpanStart {
  readonly name: string;
  /** `client`: a call to another program. Default: `internal`. */
  readonly kind?: 'client' | 'internal';
  readonly attributes?: SpanAttributes;
}

export interface OpenSpan {
  note(attributes: SpanAttributes): void;
  /** Marks the span as failed, with one of our codes or a word; never with a message, which may quote the request. */
  fail(code: string): void;
}

/** The span without effect that is used while tracing is off. */
const NO_SPAN: OpenSpan = {
  note: () => undefined,
  fail: () => undefined,
};

/** The span of a request that is being served. */
export interface RequestSpan extends OpenSpan {
  rename(name: string): void;
  /** Runs the work in the span, so that spans started by the work become its children. */
  run<T>(work: () => T): T;
  end(): void;
}

export interface Tracer {
  inSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Whether the running code belongs to a recorded span that has not ended. */
  isInSpan(): boolean;
  /** Starts the span of a request, as a child of the caller's span where the headers name one. */
  serve(headers: IncomingHttpHeaders, name: string, attributes: SpanAttributes): RequestSpan;
  /** `traceId` and `spanId`, for a log line. */
  logFields(): object;
}

let installed: Tracer | undefined;

/** @param tracer undefined removes the tracer */
export function installTracer(tracer: Tracer | undefined): void {
  installed = tracer;
}

export function installedTracer(): Tracer | undefined {
  return installed;
}

export function tracingIsOn(): boolean {
  return installed !== undefined;
}

/** Runs the work in a span: a child of the current span, else the root of a trace. An error fails the span. */
export function inSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return installed === undefined ? work(NO_SPAN) : installed.inSpan(start, work);
}

/** Like `inSpan`, but only below an open span: for frequent calls that also run in the background. */
export function inChildSpan<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return installed?.isInSpan() === true ? installed.inSpan(start, work) : work(NO_SPAN);
}

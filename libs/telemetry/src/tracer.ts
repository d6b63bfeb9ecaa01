import { type IncomingHttpHeaders } from 'node:http';
import {
  type Attributes,
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as OtelApiTracer,
} from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  type OpenSpan,
  type RequestSpan,
  type SpanAttributes,
  type SpanStart,
  type Tracer,
} from '#libs/platform';
import { type SdkDiagLogger } from './sdk-diag-logger.js';

/** Spans of OpenTelemetry, from the global provider that the SDK registers. */
export class OtelTracer implements Tracer {
  private readonly tracer: OtelApiTracer = trace.getTracer('lowmark');

  async inSpan<T>(
    { name, kind = 'internal', attributes = {} }: SpanStart,
    work: (span: OpenSpan) => Promise<T>,
  ): Promise<T> {
    const span = this.tracer.startSpan(name, {
      kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes: defined(attributes),
    });
    try {
      return await context.with(trace.setSpan(context.active(), span), () => work(opened(span)));
    } catch (error) {
      failed(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  isInSpan(): boolean {
    return trace.getActiveSpan()?.isRecording() === true;
  }

  serve(headers: IncomingHttpHeaders, name: string, attributes: SpanAttributes): RequestSpan {
    const caller = propagation.extract(ROOT_CONTEXT, headers);
    const options = { kind: SpanKind.SERVER, attributes: defined(attributes) };
    const span = this.tracer.startSpan(name, options, caller);
    const scope = trace.setSpan(caller, span);
    return {
      ...opened(span),
      rename: (newName) => {
        span.updateName(newName);
      },
      run: (work) => context.with(scope, work),
      end: () => {
        span.end();
      },
    };
  }

  logFields(): object {
    const span = trace.getActiveSpan();
    if (span?.isRecording() !== true) return {};
    const { traceId, spanId } = span.spanContext();
    return { traceId, spanId };
  }
}

function opened(span: Span): OpenSpan {
  return {
    note: (attributes) => {
      span.setAttributes(defined(attributes));
    },
    fail: (code) => {
      failed(span, code);
    },
  };
}

function failed(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}

/**
 * The code of an error, else its name. Messages go only to the log, whose lines carry the trace's id: a driver's
 * message may quote a parameter.
 */
function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return [code, name].find(isWord) ?? 'unknown';
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{1,60}$/.test(value);
}

function defined(attributes: SpanAttributes): Attributes {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

export interface StartedSdk {
  readonly tracer: Tracer;
  /** Sends the remaining spans and stops. */
  readonly shutdown: () => Promise<void>;
}

/**
 * Starts the SDK, which reads the standard variables itself. This module is loaded only where tracing is wanted, since
 * it imports the whole SDK.
 */
export function startSdk(notes: SdkDiagLogger): StartedSdk {
  const sdk = new NodeSDK();
  // Set after the constructor of the SDK, which may have set a logger that writes its own lines.
  diag.setLogger(notes, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  return { tracer: new OtelTracer(), shutdown: () => sdk.shutdown() };
}

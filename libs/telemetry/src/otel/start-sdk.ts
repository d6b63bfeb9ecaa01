import { diag, DiagLogLevel } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { type Tracer } from '#libs/platform';
import { type SdkNotes } from '../sdk-notes.js';
import { OtelTracer } from './otel-tracer.js';

export interface StartedSdk {
  readonly tracer: Tracer;
  /** Sends what is left. */
  readonly shutdown: () => Promise<void>;
}

/** Loaded only where traces are wanted: it brings the whole SDK along. The SDK reads the standard variables itself. */
export function startSdk(notes: SdkNotes): StartedSdk {
  const sdk = new NodeSDK();
  // After its constructor, which may have set one that writes lines of its own.
  diag.setLogger(notes, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  return { tracer: new OtelTracer(), shutdown: () => sdk.shutdown() };
}

import { type Clock, type Logger } from '#libs/platform';

/** Minimum time between two lines: with an unreachable collector an export fails every few seconds. */
const REST_MS = 10 * 60_000;
const LONGEST = 200;

/**
 * Writes the SDK's messages to our log: only warnings, at most one in ten minutes, without URLs and quoted text, which
 * may contain a key. Implements the interface of OpenTelemetry's DiagLogger.
 */
export class SdkDiagLogger {
  private saidAtMs: number | undefined;
  private leftOut = 0;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  readonly error = (text: string): void => {
    this.say(text);
  };

  readonly warn = (text: string): void => {
    this.say(text);
  };

  readonly info = (): void => undefined;
  readonly debug = (): void => undefined;
  readonly verbose = (): void => undefined;

  private say(text: string): void {
    const nowMs = this.clock.nowMs();
    const agoMs = nowMs - (this.saidAtMs ?? -Infinity);
    // A negative age means that the clock was set back.
    if (agoMs >= 0 && agoMs < REST_MS) {
      this.leftOut += 1;
      return;
    }
    const { leftOut } = this;
    this.saidAtMs = nowMs;
    this.leftOut = 0;
    this.logger.warn(
      { reason: reasonIn(text), ...(leftOut > 0 && { leftOut }) },
      'OpenTelemetry has trouble; the service goes on, traces may be missing',
    );
  }
}

/** An error arrives as JSON with its stack and the collector's answer. Only its code and message are kept. */
function reasonIn(text: string): string {
  const { code, message } = errorIn(text) ?? { message: text };
  const parts = [code, message].filter(
    (part) => typeof part === 'string' || typeof part === 'number',
  );
  return parts
    .join(' ')
    .replace(/\S+:\/\/\S+/g, '<url>')
    .replace(/(["'`]).*\1/g, '<…>')
    .slice(0, LONGEST);
}

function errorIn(text: string): { code?: unknown; message?: unknown } | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return { message: 'an error that cannot be read' };
  }
}

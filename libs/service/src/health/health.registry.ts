import { Injectable } from '@nestjs/common';
import { within } from '#libs/platform';

/** What one check found: a reason where the service cannot serve, and facts for the reader. */
export interface CheckResult {
  /** Why the service is not ready; absent where it is. */
  readonly reason?: string;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

export type HealthCheck = () => CheckResult | Promise<CheckResult>;

export interface HealthReport {
  readonly status: 'ready' | 'not ready';
  /** One sentence for each failed check, its name first. */
  readonly reasons: readonly string[];
  readonly checks: Readonly<Record<string, { readonly ready: boolean } & CheckResult>>;
}

/** The check of whether the process was told to end. */
export const PROCESS_CHECK = 'process';

const CHECK_TIMEOUT_MS = 2000;

/** Where the parts of a service say whether they can serve. A part that throws or hangs cannot. */
@Injectable()
export class HealthRegistry {
  private readonly registered = new Map<string, HealthCheck>();

  register(name: string, check: HealthCheck): void {
    this.registered.set(name, check);
  }

  /** @param only the one check that counts; all where it is not given */
  async report(only?: string): Promise<HealthReport> {
    const asked = [...this.registered].filter(([name]) => only === undefined || name === only);
    const checks = Object.fromEntries(
      await Promise.all(
        asked.map(async ([name, check]) => {
          const result = await bounded(check);
          return [name, { ready: result.reason === undefined, ...result }] as const;
        }),
      ),
    );
    const reasons = Object.entries(checks).flatMap(([name, { reason }]) =>
      reason === undefined ? [] : [`${name}: ${reason}`],
    );
    return { status: reasons.length === 0 ? 'ready' : 'not ready', reasons, checks };
  }
}

async function bounded(check: HealthCheck): Promise<CheckResult> {
  try {
    return await within(CHECK_TIMEOUT_MS, Promise.resolve().then(check), () => ({
      reason: `no answer within ${CHECK_TIMEOUT_MS} ms`,
    }));
  } catch (error) {
    // The message of an error may name hosts and statements; readiness is public, the log is not.
    const code = (error as { code?: unknown } | null)?.code;
    return { reason: typeof code === 'string' ? `failed (${code})` : 'failed' };
  }
}

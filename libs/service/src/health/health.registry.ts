import { Injectable } from '@nestjs/common';
import { withTimeout } from '#libs/platform';

/** The result of one check: a reason where the service cannot serve, and details for the operator. */
export interface CheckResult {
  /** Why the service is not ready; absent where the check passes. */
  readonly reason?: string;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

export type HealthCheck = () => CheckResult | Promise<CheckResult>;

export interface HealthReport {
  readonly status: 'ready' | 'not ready';
  /** One sentence for each failed check, with the name of the check first. */
  readonly reasons: readonly string[];
  readonly checks: Readonly<Record<string, { readonly ready: boolean } & CheckResult>>;
}

/** Name of the check that fails once the process is stopping. */
export const PROCESS_CHECK = 'process';

const CHECK_TIMEOUT_MS = 2000;

/** The health checks of the parts of a service. A check that throws or times out counts as failed. */
@Injectable()
export class HealthRegistry {
  private readonly registered = new Map<string, HealthCheck>();
  private wasAskedToAccept = false;

  /** Whether a load balancer asks for `/health/accepting`, and needs time to notice that the service stops. */
  get hasLoadBalancer(): boolean {
    return this.wasAskedToAccept;
  }

  register(name: string, check: HealthCheck): void {
    this.registered.set(name, check);
  }

  /** Whether the process takes requests, which only a stopping one does not. */
  accepting(): Promise<HealthReport> {
    this.wasAskedToAccept = true;
    return this.report(PROCESS_CHECK);
  }

  /** @param only name of the single check to run; all checks where absent */
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
    return await withTimeout(CHECK_TIMEOUT_MS, Promise.resolve().then(check), () => ({
      reason: `no answer within ${CHECK_TIMEOUT_MS} ms`,
    }));
  } catch (error) {
    // The message of an error may name hosts and SQL statements; unlike the log, readiness is public.
    const code = (error as { code?: unknown } | null)?.code;
    return { reason: typeof code === 'string' ? `failed (${code})` : 'failed' };
  }
}

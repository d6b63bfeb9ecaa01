/** Limits on what members of partners do: for a member, and for all members of a partner together. */
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type FastifyRequest } from 'fastify';
import { MemberLimitStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

interface Bucket {
  readonly burst: number;
  readonly everyMs: number;
}

interface MemberPolicy {
  readonly member: Bucket;
  /** Absent where no other member may use up what a member needs. */
  readonly partner?: Bucket;
}

/** The limit of an action is CHANGE unless its route has another. A read has none unless its route has one. */
const POLICIES = {
  CHANGE: {
    member: { burst: 20, everyMs: 30 * SECOND_MS },
    partner: { burst: 40, everyMs: 15 * SECOND_MS },
  },
  /** What makes us send something to the partner. */
  SEND: {
    member: { burst: 10, everyMs: MINUTE_MS },
    partner: { burst: 20, everyMs: 30 * SECOND_MS },
  },
  /** A run of the conformance tester. */
  RUN: {
    member: { burst: 6, everyMs: 5 * MINUTE_MS },
    partner: { burst: 10, everyMs: 3 * MINUTE_MS },
  },
  /** What takes rights away. A stolen session must not be able to use it up for those who end it. */
  REVOKE: { member: { burst: 20, everyMs: 10 * SECOND_MS } },
  /** A request to the api, which uses up the partner's own limits. */
  API: {
    member: { burst: 20, everyMs: SECOND_MS },
    partner: { burst: 20, everyMs: SECOND_MS },
  },
  /** A question that changes nothing, but costs hundreds of signatures. */
  ASK: {
    member: { burst: 5, everyMs: SECOND_MS },
    partner: { burst: 5, everyMs: SECOND_MS },
  },
} satisfies Record<string, MemberPolicy>;

export type MemberPolicyName = keyof typeof POLICIES;

export const MEMBER_LIMIT = Symbol('member limit');

/** The limit of a route for members. */
export function MemberLimit(name: MemberPolicyName): MethodDecorator {
  return SetMetadata(MEMBER_LIMIT, name);
}

/** Counts each action of a member, before anything is done or noted. Runs after `AudienceGuard`. */
@Injectable()
export class MemberLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly store: MemberLimitStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 429; DatabaseUnavailableError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { method, consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
    if (consoleSession?.standing.kind !== 'partner') return true;
    const isRead = method === 'GET' || method === 'HEAD';
    const name =
      this.reflector.get<MemberPolicyName | undefined>(MEMBER_LIMIT, context.getHandler()) ??
      (isRead ? undefined : 'CHANGE');
    if (name === undefined) return true;
    const { subject, standing } = consoleSession;
    await this.take(name, { subject, partnerId: standing.partnerId });
    return true;
  }

  private async take(
    name: MemberPolicyName,
    { subject, partnerId }: { readonly subject: string; readonly partnerId: string },
  ): Promise<void> {
    const { member, partner }: MemberPolicy = POLICIES[name];
    const limits = [{ key: `${name} ${partnerId} ${subject}`, ...member }];
    if (partner !== undefined) limits.push({ key: `${name} ${partnerId}`, ...partner });
    const seconds = await this.store.take(limits, this.clock.nowMs());
    if (seconds === 0) return;
    throw new HttpProblem(429, `You have done this too often: try again in ${seconds} s.`, {
      retryAfterSeconds: seconds,
    });
  }
}

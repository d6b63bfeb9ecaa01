/** Who a route is for. Each route of the console says it, by one of these decorators on it or on its controller. */
import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { type OperatorRole, type Person } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { Fails, FailsAnywhere } from '#libs/openapi';
import { actorOf } from './operators.js';
import { type Audience, AUDIENCE, AudienceGuard, FRESH } from './audience.guard.js';
import { type CurrentSession } from './sessions.js';

/** Of a class or of a method. */
type Decorator = ClassDecorator & MethodDecorator;

/** For everyone: signing in, and what tells nothing. */
export function ForAnyone(): Decorator {
  return applyDecorators(
    SetMetadata(AUDIENCE, { kind: 'anyone' } satisfies Audience),
    FailsAnywhere(),
  );
}

/** For players, whose session the redemption service knows and checks. */
export function ForPlayers(): Decorator {
  return SetMetadata(AUDIENCE, { kind: 'player' } satisfies Audience);
}

/** For operators and partners alike. */
export function ForSignedIn(): Decorator {
  return forSession({ kind: 'signed-in' });
}

/** For operators with this role or a higher one. */
export function ForOperators(role: OperatorRole): Decorator {
  return applyDecorators(
    forSession({ kind: 'operator', role }),
    Fails(403, 'Not for this account.', 'ROLE_TOO_LOW', 'WRONG_AUDIENCE'),
  );
}

/** For members of a partner; what they see is read as that partner: `PortalDatabase.asPartner`. */
export function ForPartners(): Decorator {
  return applyDecorators(
    forSession({ kind: 'partner' }),
    Fails(403, 'Not for this account.', 'WRONG_AUDIENCE'),
  );
}

/** Only within five minutes of a sign-in: for what moves money or secrets. On a method, beside its audience. */
export function FreshSignIn(): Decorator {
  return SetMetadata(FRESH, true);
}

function forSession(audience: Audience): Decorator {
  return applyDecorators(
    SetMetadata(AUDIENCE, audience),
    UseGuards(AudienceGuard),
    ApiSecurity('session'),
    Fails(401, 'Sign in.', 'SIGN_IN_NEEDED', 'SESSION_ENDED', 'FRESH_SIGN_IN_NEEDED'),
    FailsAnywhere(),
  );
}

/** The operator who asks, for the audit: `actor` is `operator:NAME`. */
export interface ConsoleOperator extends Person {
  readonly role: OperatorRole;
  readonly actor: string;
}

/** The member who asks, and the partner for which. */
export interface ConsoleMember extends Person {
  readonly partnerId: string;
}

/** Behind `ForOperators`: a `ConsoleOperator`. */
export const CurrentOperator = createParamDecorator(
  (_: unknown, context: ExecutionContext): ConsoleOperator => {
    const { subject, name, standing } = sessionOf(context);
    if (standing.kind !== 'operator') throw noAudience();
    return { subject, name, role: standing.role, actor: actorOf({ subject, name }) };
  },
);

/** Behind `ForPartners`: a `ConsoleMember`. */
export const CurrentMember = createParamDecorator(
  (_: unknown, context: ExecutionContext): ConsoleMember => {
    const { subject, name, standing } = sessionOf(context);
    if (standing.kind !== 'partner') throw noAudience();
    return { subject, name, partnerId: standing.partnerId };
  },
);

/** Behind any audience with a session. */
export const Session = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOf(context),
);

function sessionOf(context: ExecutionContext): CurrentSession {
  const { consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  if (consoleSession === undefined) throw noAudience();
  return consoleSession;
}

function noAudience(): PermanentError {
  return new PermanentError('NO_AUDIENCE', 'The route does not say who it is for.');
}

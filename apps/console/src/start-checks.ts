import { PermanentError } from '#libs/domain';
import { type ConsoleSettings } from './console.env.js';

/** @throws PermanentError OIDC_INCOMPLETE where only a part of what signs in by OpenID Connect is set */
export function refuseHalfSettings(settings: ConsoleSettings): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles } = settings;
  const parts = [oidcIssuer, oidcClientId];
  const isNone = [...parts, oidcClientSecret, oidcRoles].every((part) => part === undefined);
  if (isNone || parts.every((part) => part !== undefined)) return;
  throw new PermanentError(
    'OIDC_INCOMPLETE',
    'Sign-in by OpenID Connect needs OIDC_ISSUER and OIDC_CLIENT_ID: set both, or no setting that begins with OIDC_. See docs/operating/console.md.',
  );
}

import { HttpProblem } from '#libs/service';

const MESSAGES = {
  SIGN_IN_NEEDED: [401, 'Sign in first.'],
  SESSION_ENDED: [401, 'This sign-in has ended: sign in again.'],
  FRESH_SIGN_IN_NEEDED: [401, 'This asks for a sign-in of the last five minutes: sign in again.'],
  ROLE_TOO_LOW: [403, 'Your role does not allow this.'],
  WRONG_AUDIENCE: [403, 'This is not for the kind of account that is signed in.'],
  NOT_AN_OPERATOR: [
    403,
    'You are signed in, but not one of the operators: an administrator adds you.',
  ],
  NOT_A_MEMBER: [403, 'You act for no partner: ask the operator for an invitation.'],
  INVITATION_CLOSED: [403, 'The invitation was used, withdrawn or has expired: ask for a new one.'],
  LINK_CLOSED: [403, 'The link was used or has expired: make a new one.'],
  WAY_OFF: [404, 'This way of signing in is not set up here.'],
  OIDC_GROUPS_LEFT_OUT: [
    403,
    'The sign-in service left out your groups, because you are in too many: an administrator lets it send only the groups of this console, or roles.',
  ],
  OIDC_CLIENT_REFUSED: [
    401,
    'The sign-in service refuses this console: an administrator checks the client id and secret.',
  ],
  OIDC_STATE: [401, 'This sign-in was begun elsewhere, or took too long: begin again.'],
  OIDC_DENIED: [401, 'The sign-in service said no.'],
  OIDC_REFUSED: [401, 'The answer of the sign-in service cannot be believed: begin again.'],
  OIDC_SUBJECT: [401, 'The sign-in service names you in a way that cannot be kept.'],
} as const;

export type SignInCode = keyof typeof MESSAGES;

/** @param who for a wallet its address, as OPERATORS lists it */
export function notAnOperator(by: 'wallet' | 'oidc', who: string): HttpProblem {
  if (by !== 'wallet') return signInProblem('NOT_AN_OPERATOR');
  const message = `The account ${who} is not one of the operators: an administrator adds it to the setting OPERATORS (${who}=viewer, say) and restarts the console.`;
  return new HttpProblem(403, message, { code: 'NOT_AN_OPERATOR' });
}

export function signInProblem(code: SignInCode): HttpProblem {
  const [status, message] = MESSAGES[code];
  return new HttpProblem(status, message, { code });
}

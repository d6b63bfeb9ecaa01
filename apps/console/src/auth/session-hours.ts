/**
 * A sign-in ends after so many hours in any case: a working day. An operator whom the issuer removed keeps the role no
 * longer.
 */
export const SESSION_HOURS = 12;

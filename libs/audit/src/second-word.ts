/** Whose word a figure of the contract is. A difference is believed only where a second endpoint finds it too. */
import { AllEndpointsFailedError, type FigureOptions } from '#libs/chain';
import { type AuditParts } from './audit-parts.js';
import { persist } from './persist.js';

export interface Told<T> {
  readonly figure: T;
  readonly endpoint: string;
}

type Ask<T> = (options: FigureOptions) => Promise<T | undefined>;

/** @returns undefined where nobody can tell. @throws AllEndpointsFailedError, or the reason of the signal */
export async function firstWord<T>(parts: AuditParts, ask: Ask<T>): Promise<Told<T> | undefined> {
  let endpoint = '';
  const saidBy = (name: string): void => {
    endpoint = name;
  };
  const figure = await persist(parts, () => ask({ saidBy }));
  return figure === undefined ? undefined : { figure, endpoint };
}

/** Of another endpoint than `endpoint`; once more of that one where no other can tell. @returns and throws as the first */
export async function secondWord<T>(
  parts: AuditParts,
  endpoint: string,
  ask: Ask<T>,
): Promise<T | undefined> {
  if (parts.reader.endpoints.some((name) => name !== endpoint)) {
    try {
      const figure = await persist(parts, () => ask({ avoid: [endpoint] }));
      if (figure !== undefined) return figure;
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
    }
  }
  return persist(parts, () => ask({}));
}

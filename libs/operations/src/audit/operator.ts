/** Who does what. The audit and the timeline keep it, from the command line and from the pages alike. */

export interface Operator {
  /** `operator:NAME`; see `operatorActor`. */
  readonly actor: string;
  /** `redemption retry`; a page gives the name of the command that does the same. */
  readonly command: string;
  /** `operator:NAME` of the second operator, where one approved it. */
  readonly approvedBy?: string | undefined;
}

/** An operation as the audit knows it. */
export interface AuditedCommand extends Operator {
  /** Without secrets. */
  readonly arguments?: object;
}

/** The names that the audit takes. */
export const OPERATOR_NAME = /^[A-Za-z0-9._@+-]{1,64}$/;

export function operatorActor(name: string): string {
  return `operator:${name}`;
}

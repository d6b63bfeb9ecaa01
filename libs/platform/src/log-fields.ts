let added: (() => object) | undefined;

/** Puts more fields into each line that is logged from now on, by whichever logger: for what is known of the running code. */
export function addLogFields(fields: () => object): void {
  added = fields;
}

export function addedLogFields(): object | undefined {
  return added?.();
}

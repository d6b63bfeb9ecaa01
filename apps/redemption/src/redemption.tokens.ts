export const LOGGER = Symbol('Logger');
export const ENGINE = Symbol('Engine');

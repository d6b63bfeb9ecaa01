/** The name under which the reference partner is known to the service of `docker compose --profile local`. */
export const REFERENCE_PARTNER = 'reference';

export { EmbeddedPostgres } from './embedded-postgres.js';
export { PostgresUser } from './postgres-user.js';

import { PermanentError } from '#libs/domain';

export class UnsupportedDatabaseError extends PermanentError {
  constructor() {
    super('DATABASE_TOO_OLD', 'The database is older than PostgreSQL 15: upgrade it');
  }
}

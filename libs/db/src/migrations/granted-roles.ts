import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The role that the newest sign-in of an operator gave, where no setting says it, and who made an invitation: so that
 * what an operator began counts only while the operator has the role.
 */
export class GrantedRoles1760000005000 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [ROLES];
  readonly downStatements = [
    'ALTER TABLE console.invitation DROP COLUMN inviter',
    'DROP TABLE console.granted_role',
  ];
}

const ROLES = `
CREATE TABLE console.granted_role (
  subject console.subject PRIMARY KEY,
  role text CHECK (role IN ('viewer', 'operator', 'admin')),
  known_at timestamptz NOT NULL
);
COMMENT ON TABLE console.granted_role IS 'what the newest sign-in of an operator said of the role, where the settings do not say it';
COMMENT ON COLUMN console.granted_role.role IS 'null: no operator any more';
COMMENT ON COLUMN console.granted_role.known_at IS 'when the person signed in';
INSERT INTO console.granted_role (subject, role, known_at)
  SELECT DISTINCT ON (subject) subject, role, created_at FROM console.session
  WHERE kind = 'operator' AND subject NOT LIKE 'wallet:%' ORDER BY subject, created_at DESC;
ALTER TABLE console.invitation ADD COLUMN inviter console.subject;
COMMENT ON COLUMN console.invitation.inviter IS 'null: by a command, or by a version before';
`;

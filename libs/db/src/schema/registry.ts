/** What was published in a SnapshotRegistry, or is to be, and the transactions that were signed for it. See docs/decisions/0015-publishing-roots.md. */
export const REGISTRY = `
CREATE TABLE redemption.registry_publication (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  registry bytea NOT NULL CHECK (octet_length(registry) = 20),
  day int NOT NULL CHECK (day >= 0), -- days since 1970-01-01 UTC
  stake_set text NOT NULL CHECK (stake_set <> ''),
  revision int NOT NULL CHECK (revision > 0), -- of the sealed day
  root bytea NOT NULL CHECK (octet_length(root) = 32),
  -- sent: signed, and stored before it was sent; mined: the newest block has it; final: a final block has it; refused: the registry holds something else, for ever.
  status text NOT NULL DEFAULT 'due' CHECK (status IN ('due', 'sent', 'mined', 'final', 'refused')),
  account bytea CHECK (octet_length(account) = 20),
  nonce bigint CHECK (nonce >= 0), -- of the account; all transactions of the publication have it, so that one of them counts at most
  due_at timestamptz NOT NULL,
  settled_at timestamptz,
  reason text,
  acknowledged_at timestamptz, -- a person has looked into what is wrong with it; good for nothing that comes later
  acknowledged_by text CHECK (acknowledged_by <> ''),
  note text CHECK (length(note) BETWEEN 1 AND 255),
  PRIMARY KEY (chain_id, registry, day),
  CHECK ((account IS NULL) = (nonce IS NULL)),
  CHECK (status <> 'sent' OR nonce IS NOT NULL),
  CHECK ((settled_at IS NULL) = (status NOT IN ('final', 'refused'))),
  CHECK ((reason IS NULL) = (status <> 'refused')),
  CHECK (num_nulls(acknowledged_at, acknowledged_by, note) IN (0, 3))
);
COMMENT ON TABLE redemption.registry_publication IS 'the roots that a SnapshotRegistry is given, one for each sealed day';
CREATE UNIQUE INDEX registry_publication_nonce ON redemption.registry_publication (chain_id, account, nonce);
CREATE INDEX registry_publication_open ON redemption.registry_publication (chain_id, registry, day)
  WHERE status IN ('due', 'sent', 'mined');

CREATE TABLE redemption.registry_transaction (
  chain_id bigint NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  registry bytea NOT NULL,
  day int NOT NULL,
  account bytea NOT NULL CHECK (octet_length(account) = 20),
  nonce bigint NOT NULL CHECK (nonce >= 0),
  root bytea NOT NULL CHECK (octet_length(root) = 32),
  gas_price numeric(78, 0) NOT NULL CHECK (gas_price >= 0 AND gas_price < 'Infinity'),
  gas bigint NOT NULL CHECK (gas > 0),
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, hash),
  FOREIGN KEY (chain_id, registry, day) REFERENCES redemption.registry_publication
);
COMMENT ON TABLE redemption.registry_transaction IS 'what was signed to publish; the same fields give the same bytes, so that it can be sent again';
CREATE INDEX registry_transaction_publication ON redemption.registry_transaction (chain_id, registry, day, gas_price);

-- What is final stays; a root that is on chain is never replaced by another one here.
CREATE FUNCTION redemption.guard_publication() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.chain_id, NEW.registry, NEW.day) IS DISTINCT FROM (OLD.chain_id, OLD.registry, OLD.day) THEN
    PERFORM redemption.refuse('a publication keeps its place');
  END IF;
  IF OLD.status IN ('final', 'refused') AND (NEW.status, NEW.root, NEW.revision) IS DISTINCT FROM (OLD.status, OLD.root, OLD.revision) THEN
    PERFORM redemption.refuse('a publication that is final or refused never changes');
  END IF;
  IF NEW.root <> OLD.root AND OLD.status NOT IN ('due', 'sent') THEN
    PERFORM redemption.refuse('the root of a publication that is mined never changes');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON redemption.registry_publication
  FOR EACH ROW EXECUTE FUNCTION redemption.guard_publication();
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON redemption.registry_publication
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redemption.registry_transaction
  FOR EACH STATEMENT EXECUTE FUNCTION lowmark.refuse_change();
`;

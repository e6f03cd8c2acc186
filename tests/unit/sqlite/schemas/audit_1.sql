-- An audit log as the first version left it, without the entry that says where it begins.
CREATE TABLE audit(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL, object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER audit_only_appends BEFORE INSERT ON audit WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM audit) BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: this is not its next entry'); END;
CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: entries never change'); END;
CREATE TRIGGER audit_never_forgets BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: entries never go'); END;
INSERT INTO audit VALUES(1, 5, 'spiffe://alpha/user/ana', 'scheduleApplication', '/v1/applications', 'allow', 'r1', '', '882f8c02ca83caf8498abd1d73cb42eb6b4f9ce63214b43108c40d63e4e36e1c');
PRAGMA user_version=1;

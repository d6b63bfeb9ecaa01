import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from '#libs/service';
import { FALLBACKS } from './standby.js';
import { Standbys } from './standbys.js';

/**
 * Metrics of the reads by server, and of each standby's lag. Registered only where DATABASE_READ_URLS names a standby.
 */
@Injectable()
export class StandbyMetrics {
  constructor(registry: Registry, standbys: Standbys) {
    if (standbys.all.length === 0) return;
    const registers = [registry];
    new Gauge({
      name: 'lowmark_standby_used',
      help: '1 while reads use the standby, 0 while it is left aside',
      labelNames: ['standby'],
      registers,
      collect() {
        for (const one of standbys.all)
          this.set({ standby: one.name }, standbys.isUsable(one) ? 1 : 0);
      },
    });
    new Gauge({
      name: 'lowmark_standby_lag_seconds',
      help: 'How far the standby is behind the primary at most; absent while that is not known',
      labelNames: ['standby'],
      registers,
      collect() {
        this.reset();
        for (const { name, lagMs } of standbys.all) {
          if (lagMs !== undefined) this.set({ standby: name }, lagMs / 1000);
        }
      },
    });
    new Counter({
      name: 'lowmark_snapshot_reads_total',
      help: 'Reads of the database for snapshots, by the server: primary, or the standby',
      labelNames: ['server'],
      registers,
      collect() {
        this.reset();
        this.inc({ server: 'primary' }, standbys.primaryReads);
        for (const { name, counts } of standbys.all) this.inc({ server: name }, counts.reads);
      },
    });
    new Counter({
      name: 'lowmark_standby_fallbacks_total',
      help: 'Reads that a standby did not serve and that were made elsewhere, by why: failed, older, without-primary',
      labelNames: ['standby', 'why'],
      registers,
      collect() {
        this.reset();
        for (const { name, counts } of standbys.all) {
          for (const why of FALLBACKS) this.inc({ standby: name, why }, counts.fallbacks[why]);
        }
      },
    });
  }
}

import { Injectable, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HealthRegistry, HttpShutdown, PROCESS_CHECK } from '#libs/service';
import { Connections } from '../connections.module.js';

/**
 * The health of the process alone: unhealthy while it shuts down. The pages are served while services behind them are
 * down, and report the failures themselves.
 */
@Injectable()
class ProcessState {
  isStopping = false;

  constructor(health: HealthRegistry) {
    health.register(PROCESS_CHECK, () => (this.isStopping ? { reason: 'shutting down' } : {}));
  }
}

@Injectable()
class ConsoleShutdown extends HttpShutdown {
  constructor(
    host: HttpAdapterHost,
    state: ProcessState,
    health: HealthRegistry,
    { opened }: Connections,
  ) {
    const stopping = (): void => {
      state.isStopping = true;
    };
    super({ host, stopping, health, opened });
  }
}

@Module({ providers: [ProcessState, ConsoleShutdown] })
export class HealthModule {}

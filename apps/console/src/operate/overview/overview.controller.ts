import { Controller, Get, Inject } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { Database, RedemptionLog, RedemptionPages } from '#libs/db';
import { Answers, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { ForOperators } from '../../auth/audience.js';
import { IndexFigures } from './index-figures.js';
import { OpenAlerts } from './open-alerts.js';
import {
  AcceptedPriceBody,
  AlertsBody,
  HaltBody,
  HeldPriceBody,
  IndexBody,
  PartnerTroublesBody,
  PricesBody,
  RedemptionFiguresBody,
  ServicesBody,
  StakeSetsBody,
  StoredPriceBody,
  SyncBody,
  VaultsBody,
} from './overview.dto.js';
import { ServiceHealth } from './service-health.js';
import { VaultFigures } from './vault-figures.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The parts of the overview. Each part is a request of its own, so that a failed source affects one part only. */
@Controller('api/operate/overview')
@ApiExtraModels(SyncBody, HaltBody, IndexBody, StoredPriceBody, HeldPriceBody, AcceptedPriceBody)
@ForOperators('viewer')
export class OverviewController {
  constructor(
    private readonly health: ServiceHealth,
    private readonly index: IndexFigures,
    private readonly vaultFigures: VaultFigures,
    private readonly openAlerts: OpenAlerts,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('services')
  @Operation(
    'The services',
    'What each says of itself; one that does not answer is waited for 2.5 s.',
  )
  @Answers(200, 'One for each.', ServicesBody)
  async services(): Promise<ServicesBody> {
    return { services: await this.health.all() };
  }

  @Get('index')
  @Operation('How far each stake set is indexed', 'By the database.')
  @Answers(200, 'One for each, the default one first.', StakeSetsBody)
  async indexes(): Promise<StakeSetsBody> {
    return { sets: await this.index.all() };
  }

  @Get('prices')
  @Operation('The price of each stake set', 'Stored, held, accepted.')
  @Answers(200, 'One for each, the default one first.', PricesBody)
  async prices(): Promise<PricesBody> {
    return { prices: await this.index.prices() };
  }

  @Get('vaults')
  @Operation(
    'The vaults',
    'By the chain’s newest block. 503 `SETTING_MISSING` without RPC_URLS, `CHAIN_UNAVAILABLE` where no endpoint answers.',
  )
  @Answers(200, 'That of the settings, and those that the ledger names.', VaultsBody)
  async vaults(): Promise<VaultsBody> {
    return { vaults: await this.vaultFigures.all() };
  }

  @Get('redemptions')
  @Operation('How many redemptions are in which state', 'Now.')
  @Answers(200, 'The figures.', RedemptionFiguresBody)
  async redemptions(): Promise<RedemptionFiguresBody> {
    const sinceMs = this.clock.nowMs() - DAY_MS;
    const { open, made } = await new RedemptionPages(this.database).overview(sinceMs);
    const attention = open.find(({ state }) => state === 'attention')?.count ?? 0;
    return { attention, open: [...open], made: [...made] };
  }

  @Get('partners')
  @Operation('Partners with trouble', 'Calls that failed, and redemptions that need attention.')
  @Answers(200, 'Only those that have some.', PartnerTroublesBody)
  async troubles(): Promise<PartnerTroublesBody> {
    const sinceMs = this.clock.nowMs() - HOUR_MS;
    return { partners: await new RedemptionLog(this.database).troubles(sinceMs) };
  }

  @Get('alerts')
  @Operation(
    'What needs attention',
    'By Alertmanager where ALERTMANAGER_URL is set, else by the database and the services.',
  )
  @Answers(200, 'The gravest first.', AlertsBody)
  alerts(): Promise<AlertsBody> {
    return this.openAlerts.all();
  }
}

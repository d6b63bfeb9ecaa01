import { ApiSchema } from '@nestjs/swagger';
import { REDEMPTION_STATES, type RedemptionState } from '#libs/domain';
import { Field } from '#libs/openapi';

export const SERVICES = ['api', 'indexer', 'redemption'] as const;
export const SERVICE_STATES = ['ready', 'not-ready', 'no-answer', 'not-set'] as const;

@ApiSchema({ name: 'SyncProgress', description: 'What the indexer says of itself.' })
export class SyncBody {
  @Field.Text() readonly phase!: string;
  @Field.NumberOrNull('Of the blocks from the first one on.') readonly percent!: number | null;
  @Field.NumberOrNull('Until it is level with the chain.') readonly secondsLeft!: number | null;
  @Field.NumberOrNull() readonly blocksPerSecond!: number | null;
  @Field.NumberOrNull() readonly chainHeadBlock!: number | null;
  @Field.TextOrNull('What vouches for events now.') readonly verification!: string | null;
}

@ApiSchema({ name: 'Service' })
export class ServiceBody {
  @Field.OneOf(SERVICES) readonly name!: (typeof SERVICES)[number];
  @Field.OneOf(SERVICE_STATES) readonly state!: (typeof SERVICE_STATES)[number];
  @Field.ListOf(String, 'Why it is not ready, in sentences.') readonly reasons!: string[];
  @Field.Text('The setting that says where it is.') readonly setting!: string;
  @Field.NestedOrNull(SyncBody, 'Of the indexer.') readonly sync!: SyncBody | null;
}

@ApiSchema({ name: 'Services' })
export class ServicesBody {
  @Field.ListOf(ServiceBody) readonly services!: ServiceBody[];
}

@ApiSchema({ name: 'Halt' })
export class HaltBody {
  @Field.Time() readonly at!: Date;
  @Field.Text() readonly reason!: string;
}

@ApiSchema({ name: 'Index' })
export class IndexBody {
  @Field.ChainId() readonly chainId!: number;
  @Field.ListOf(String) readonly contracts!: string[];
  @Field.Text() readonly tokenSymbol!: string;
  @Field.Digits('The newest indexed block.') readonly headBlock!: string;
  @Field.Time() readonly headAt!: Date;
  @Field.Number('How far its time is behind the clock; negative: ahead of it.')
  readonly lagSeconds!: number;
  @Field.DigitsOrNull() readonly finalisedBlock!: string | null;
  @Field.DigitsOrNull('Up to here the events are vouched for.')
  readonly verifiedBlock!: string | null;
  @Field.Decimal('Staked by all wallets, in whole tokens.') readonly total!: string;
  @Field.TimeOrNull('When it was last level with the chain.') readonly syncedAt!: Date | null;
  @Field.NestedOrNull(HaltBody) readonly halted!: HaltBody | null;
}

@ApiSchema({ name: 'StakeSet' })
export class StakeSetBody {
  @Field.Text() readonly stakeSet!: string;
  @Field.NestedOrNull(IndexBody, 'Null before the indexer has made it.')
  readonly index!: IndexBody | null;
}

@ApiSchema({ name: 'StakeSets' })
export class StakeSetsBody {
  @Field.ListOf(StakeSetBody) readonly sets!: StakeSetBody[];
}

@ApiSchema({ name: 'StoredPrice' })
export class StoredPriceBody {
  @Field.Decimal('US dollars for one token.') readonly usd!: string;
  @Field.Text('As in PRICE_SOURCE, without credentials.') readonly source!: string;
  @Field.Time() readonly observedAt!: Date;
}

@ApiSchema({ name: 'HeldPrice' })
export class HeldPriceBody extends StoredPriceBody {
  @Field.Time() readonly since!: Date;
  @Field.Text() readonly because!: string;
  @Field.DecimalOrNull() readonly beforeUsd!: string | null;
  @Field.Flag('The hold ends with the next reading near it.') readonly isAccepted!: boolean;
}

@ApiSchema({ name: 'AcceptedPrice' })
export class AcceptedPriceBody {
  @Field.Decimal() readonly usd!: string;
  @Field.Text() readonly actor!: string;
  @Field.Time() readonly at!: Date;
}

@ApiSchema({ name: 'PriceOfSet' })
export class PriceBody {
  @Field.Text() readonly stakeSet!: string;
  @Field.NestedOrNull(StoredPriceBody) readonly stored!: StoredPriceBody | null;
  @Field.NestedOrNull(HeldPriceBody, 'A reading that is not used until an operator accepts it.')
  readonly hold!: HeldPriceBody | null;
  @Field.NestedOrNull(AcceptedPriceBody) readonly accepted!: AcceptedPriceBody | null;
}

@ApiSchema({ name: 'Prices' })
export class PricesBody {
  @Field.ListOf(PriceBody) readonly prices!: PriceBody[];
}

@ApiSchema({ name: 'Vault' })
export class VaultBody {
  @Field.ChainId() readonly chainId!: number;
  @Field.Address() readonly address!: string;
  @Field.Text() readonly tokenSymbol!: string;
  @Field.Flag('Whether a redemption vault is there at all.') readonly isVault!: boolean;
  @Field.Flag() readonly isPaused!: boolean;
  @Field.Decimal() readonly balance!: string;
  @Field.Decimal('What it pays at most within the window.') readonly windowCap!: string;
  @Field.Decimal('What is left of that now.') readonly remainingInWindow!: string;
  @Field.Count() readonly windowSeconds!: number;
}

@ApiSchema({ name: 'Vaults' })
export class VaultsBody {
  @Field.ListOf(VaultBody) readonly vaults!: VaultBody[];
}

@ApiSchema({ name: 'PartnerTrouble' })
export class PartnerTroubleBody {
  @Field.Uuid() readonly partner!: string;
  @Field.Count('Of the last hour.') readonly failedCalls!: number;
  @Field.Count('Redemptions that need attention.') readonly stuck!: number;
}

@ApiSchema({ name: 'PartnerTroubles' })
export class PartnerTroublesBody {
  @Field.ListOf(PartnerTroubleBody) readonly partners!: readonly PartnerTroubleBody[];
}

@ApiSchema({ name: 'OpenState' })
export class OpenStateBody {
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.Count() readonly count!: number;
  @Field.Number('How long the first of them is in this state.') readonly longestSeconds!: number;
  @Field.Number('How long ago the oldest of them was made.') readonly oldestSeconds!: number;
}

@ApiSchema({ name: 'StateCount' })
export class StateCountBody {
  @Field.OneOf(REDEMPTION_STATES) readonly state!: RedemptionState;
  @Field.Count() readonly count!: number;
}

@ApiSchema({ name: 'RedemptionFigures' })
export class RedemptionFiguresBody {
  @Field.Count('Those that need attention.') readonly attention!: number;
  @Field.ListOf(OpenStateBody) readonly open!: OpenStateBody[];
  @Field.ListOf(StateCountBody, 'Of those made in the last 24 hours.')
  readonly made!: StateCountBody[];
}

export const SEVERITIES = ['critical', 'warning', 'info'] as const;

@ApiSchema({ name: 'Alert' })
export class AlertBody {
  @Field.Text() readonly name!: string;
  @Field.OneOf(SEVERITIES) readonly severity!: (typeof SEVERITIES)[number];
  @Field.Text() readonly summary!: string;
  @Field.TimeOrNull() readonly since!: Date | null;
  @Field.TextOrNull('A page of this console, or a handbook’s.') readonly link!: string | null;
}

@ApiSchema({ name: 'Alerts' })
export class AlertsBody {
  @Field.OneOf(
    ['alertmanager', 'console'],
    'Without an Alertmanager the console asks the database and the services.',
  )
  readonly source!: 'alertmanager' | 'console';
  @Field.ListOf(AlertBody) readonly alerts!: AlertBody[];
  @Field.ListOf(String, 'Settings of services that the console cannot ask, where it asks them.')
  readonly unknown!: string[];
}

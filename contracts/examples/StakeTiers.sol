// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SnapshotRegistry} from "../src/SnapshotRegistry.sol";

/// @title An example of a game's contract: a tier for what a wallet kept staked on average.
/// @notice A player brings the proofs of the last days, which the service's API hands out, and has the tier for a while.
contract StakeTiers {
    /// @notice How old the newest of the days may be: sealing waits for finality.
    uint256 public constant MAX_AGE_DAYS = 3;
    uint256 public constant TIER_SECONDS = 7 days;

    SnapshotRegistry public immutable registry;
    /// @notice How many days the average is over.
    uint256 public immutable lastDays;
    /// @notice The least average of each tier, ascending, in the token's smallest unit.
    uint256[] public thresholds;

    /// @notice Until when a tier holds, in Unix seconds.
    struct Grant {
        uint256 tier;
        uint256 until;
    }

    mapping(address player => Grant grant) private _grants;

    event TierGranted(address indexed player, uint256 tier, uint256 until);

    error WrongDays(uint256 given, uint256 wanted);
    error TooOld(uint256 endDay);

    constructor(SnapshotRegistry registry_, uint256 lastDays_, uint256[] memory thresholds_) {
        registry = registry_;
        lastDays = lastDays_;
        thresholds = thresholds_;
    }

    /// @notice Grants the caller the tier that the proofs show, 0 for less than the first threshold.
    /// @param leaves one for each of the last days up to `endDay`, the earliest first
    function claim(uint256 endDay, SnapshotRegistry.Leaf[] calldata leaves) external returns (uint256 tier) {
        if (leaves.length != lastDays) revert WrongDays(leaves.length, lastDays);
        if (endDay + MAX_AGE_DAYS < block.timestamp / 1 days) revert TooOld(endDay);
        uint256 sum = 0;
        for (uint256 i = 0; i < lastDays; ++i) {
            sum += registry.provenLow(endDay + 1 - lastDays + i, msg.sender, leaves[i]);
        }
        uint256 average = sum / lastDays;
        while (tier < thresholds.length && average >= thresholds[tier]) ++tier;
        uint256 until = block.timestamp + TIER_SECONDS;
        _grants[msg.sender] = Grant(tier, until);
        emit TierGranted(msg.sender, tier, until);
    }

    /// @notice The player's tier now.
    function tierOf(address player) external view returns (uint256) {
        Grant memory grant = _grants[player];
        return block.timestamp <= grant.until ? grant.tier : 0;
    }
}

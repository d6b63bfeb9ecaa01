// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title Holds one token for its stakers; every change of a balance is one `Staked` or `Withdrawn` event.
/// @notice Invariant: `totalStaked` is the sum of all balances and of all `Staked` minus all `Withdrawn` amounts. The
/// token must move exactly the amount it is asked to move: one that takes a fee on transfers would break it.
/// @dev `multicall` puts several calls of one caller into one transaction, hence several events.
contract Staking is Multicall, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    IERC20 public immutable token;
    uint256 public totalStaked;
    mapping(address user => uint256 amount) public balanceOf;

    event Staked(address indexed user, uint256 amount);
    event Withdrawn(address indexed user, uint256 amount);

    error ZeroAmount();
    error ZeroAddress();
    error LengthMismatch(uint256 users, uint256 amounts);
    error InsufficientStake(address user, uint256 staked, uint256 requested);

    constructor(IERC20 token_) {
        if (address(token_) == address(0)) revert ZeroAddress();
        token = token_;
    }

    /// @notice Stakes the caller's tokens; needs an allowance.
    function stake(uint256 amount) external nonReentrant {
        _credit(msg.sender, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Stakes the caller's tokens for another wallet, which alone may withdraw them.
    function stakeFor(address user, uint256 amount) external nonReentrant {
        _credit(user, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Stakes for many wallets in one transaction, with one event for each entry, in order.
    function stakeMany(address[] calldata users, uint256[] calldata amounts) external nonReentrant {
        if (users.length != amounts.length) revert LengthMismatch(users.length, amounts.length);
        uint256 sum = 0;
        for (uint256 i = 0; i < users.length; ++i) {
            _credit(users[i], amounts[i]);
            sum += amounts[i];
        }
        token.safeTransferFrom(msg.sender, address(this), sum);
    }

    /// @notice Pays part of the caller's stake back.
    function withdraw(uint256 amount) external nonReentrant {
        _withdraw(amount);
    }

    /// @notice Pays all of the caller's stake back.
    function withdrawAll() external nonReentrant {
        _withdraw(balanceOf[msg.sender]);
    }

    function _credit(address user, uint256 amount) private {
        if (user == address(0)) revert ZeroAddress();
        if (amount == 0) revert ZeroAmount();
        totalStaked += amount;
        balanceOf[user] += amount;
        emit Staked(user, amount);
    }

    function _withdraw(uint256 amount) private {
        uint256 staked = balanceOf[msg.sender];
        if (amount == 0) revert ZeroAmount();
        if (amount > staked) revert InsufficientStake(msg.sender, staked, amount);
        unchecked {
            // Never below zero: the line above, and no balance is above the total.
            balanceOf[msg.sender] = staked - amount;
            totalStaked -= amount;
        }
        emit Withdrawn(msg.sender, amount);
        token.safeTransfer(msg.sender, amount);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @dev The events and views of staking contracts that are in use, and what their calls do to the stakes; rewards are left out.

/// @dev Synthetix StakingRewards.
contract StakingRewards {
    IERC20 private immutable _token;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;

    event Staked(address indexed user, uint256 amount);
    event Withdrawn(address indexed user, uint256 amount);
    event RewardPaid(address indexed user, uint256 reward);

    constructor(IERC20 token) {
        _token = token;
    }

    function stake(uint256 amount) external {
        require(amount > 0, "Cannot stake 0");
        totalSupply += amount;
        balanceOf[msg.sender] += amount;
        _token.transferFrom(msg.sender, address(this), amount);
        emit Staked(msg.sender, amount);
    }

    function withdraw(uint256 amount) public {
        require(amount > 0, "Cannot withdraw 0");
        totalSupply -= amount;
        balanceOf[msg.sender] -= amount;
        _token.transfer(msg.sender, amount);
        emit Withdrawn(msg.sender, amount);
    }

    function exit() external {
        withdraw(balanceOf[msg.sender]);
        emit RewardPaid(msg.sender, 7);
    }
}

/// @dev MasterChef: several pools, an emergency exit that emits before it clears.
contract MasterChefV1 {
    struct UserInfo {
        uint256 amount;
        uint256 rewardDebt;
    }

    IERC20[] public poolInfo;
    mapping(uint256 pid => mapping(address user => UserInfo)) public userInfo;

    event Deposit(address indexed user, uint256 indexed pid, uint256 amount);
    event Withdraw(address indexed user, uint256 indexed pid, uint256 amount);
    event EmergencyWithdraw(address indexed user, uint256 indexed pid, uint256 amount);

    function add(IERC20 lpToken) external {
        poolInfo.push(lpToken);
    }

    function deposit(uint256 pid, uint256 amount) external {
        UserInfo storage user = userInfo[pid][msg.sender];
        poolInfo[pid].transferFrom(msg.sender, address(this), amount);
        user.amount += amount;
        user.rewardDebt = user.amount * 3 + 1;
        emit Deposit(msg.sender, pid, amount);
    }

    function withdraw(uint256 pid, uint256 amount) external {
        UserInfo storage user = userInfo[pid][msg.sender];
        user.amount -= amount;
        user.rewardDebt = user.amount * 3 + 1;
        poolInfo[pid].transfer(msg.sender, amount);
        emit Withdraw(msg.sender, pid, amount);
    }

    function emergencyWithdraw(uint256 pid) external {
        UserInfo storage user = userInfo[pid][msg.sender];
        poolInfo[pid].transfer(msg.sender, user.amount);
        emit EmergencyWithdraw(msg.sender, pid, user.amount);
        delete userInfo[pid][msg.sender];
    }
}

/// @dev MasterChefV2: who pays, who is credited and who is paid out may be three accounts.
contract MasterChefV2 {
    struct UserInfo {
        uint256 amount;
        int256 rewardDebt;
    }

    IERC20[] public lpToken;
    mapping(uint256 pid => mapping(address user => UserInfo)) public userInfo;

    event Deposit(address indexed user, uint256 indexed pid, uint256 amount, address indexed to);
    event Withdraw(address indexed user, uint256 indexed pid, uint256 amount, address indexed to);
    event EmergencyWithdraw(address indexed user, uint256 indexed pid, uint256 amount, address indexed to);
    event Harvest(address indexed user, uint256 indexed pid, uint256 amount);

    function add(IERC20 token) external {
        lpToken.push(token);
    }

    function deposit(uint256 pid, uint256 amount, address to) external {
        UserInfo storage user = userInfo[pid][to];
        user.amount += amount;
        user.rewardDebt += int256(amount * 3);
        lpToken[pid].transferFrom(msg.sender, address(this), amount);
        emit Deposit(msg.sender, pid, amount, to);
    }

    function withdraw(uint256 pid, uint256 amount, address to) public {
        UserInfo storage user = userInfo[pid][msg.sender];
        user.rewardDebt -= int256(amount * 4);
        user.amount -= amount;
        lpToken[pid].transfer(to, amount);
        emit Withdraw(msg.sender, pid, amount, to);
    }

    function withdrawAndHarvest(uint256 pid, uint256 amount, address to) external {
        withdraw(pid, amount, to);
        emit Harvest(msg.sender, pid, 5);
    }

    function emergencyWithdraw(uint256 pid, address to) external {
        uint256 amount = userInfo[pid][msg.sender].amount;
        delete userInfo[pid][msg.sender];
        lpToken[pid].transfer(to, amount);
        emit EmergencyWithdraw(msg.sender, pid, amount, to);
    }
}

/// @dev Shares become worth more with every transfer of assets to the vault.
contract Vault is ERC4626 {
    constructor(IERC20 asset) ERC20("Vault", "VLT") ERC4626(asset) {}
}

/// @dev One receipt for each staked token.
contract Receipt is ERC20 {
    IERC20 private immutable _token;

    constructor(IERC20 token) ERC20("Receipt", "RCT") {
        _token = token;
    }

    function enter(uint256 amount) external {
        _token.transferFrom(msg.sender, address(this), amount);
        _mint(msg.sender, amount);
    }

    function leave(uint256 amount) external {
        _burn(msg.sender, amount);
        _token.transfer(msg.sender, amount);
    }
}

/// @dev Stakes are tokens, each an event of its own.
contract TokenStaking {
    mapping(uint256 tokenId => address) public stakerOf;
    mapping(address user => uint256) public balanceOf;
    uint256 public totalStaked;

    event Staked(address indexed user, uint256 indexed tokenId);
    event Unstaked(address indexed user, uint256 indexed tokenId);

    function stake(uint256[] calldata tokenIds) external {
        for (uint256 i = 0; i < tokenIds.length; i++) {
            require(stakerOf[tokenIds[i]] == address(0), "staked");
            stakerOf[tokenIds[i]] = msg.sender;
            emit Staked(msg.sender, tokenIds[i]);
        }
        balanceOf[msg.sender] += tokenIds.length;
        totalStaked += tokenIds.length;
    }

    function unstake(uint256 tokenId) external {
        require(stakerOf[tokenId] == msg.sender, "not yours");
        delete stakerOf[tokenId];
        balanceOf[msg.sender] -= 1;
        totalStaked -= 1;
        emit Unstaked(msg.sender, tokenId);
    }
}

/// @dev A receipt that is a token of its own.
contract TokenReceipt is ERC721("Staked", "STK") {
    function enter(uint256 tokenId) external {
        _mint(msg.sender, tokenId);
    }

    function leave(uint256 tokenId) external {
        require(ownerOf(tokenId) == msg.sender, "not yours");
        _burn(tokenId);
    }
}

/// @dev Pools with totals; getters that return whole structs, one of which grew with an upgrade.
contract Pools {
    struct UserData {
        uint128 lastStake;
        uint256 deposited;
        uint256 rate;
        uint256 pending;
    }

    struct PoolData {
        uint128 lastUpdate;
        uint256 rate;
        uint256 totalDeposited;
    }

    struct Position {
        Stamp stamp;
        uint256[] rewards;
        UserData data;
    }

    struct Stamp {
        uint64 since;
        uint64 until;
    }

    mapping(address user => mapping(uint256 poolId => UserData)) public usersData;
    mapping(uint256 poolId => PoolData) public poolsData;

    event UserStaked(uint256 indexed poolId, address indexed user, uint256 amount);
    event UserWithdrawn(uint256 indexed poolId, address indexed user, uint256 amount);

    function stake(uint256 poolId, uint256 amount) external {
        UserData storage user = usersData[msg.sender][poolId];
        user.lastStake = uint128(block.timestamp);
        user.deposited += amount;
        user.rate = amount * 5;
        user.pending = 9;
        poolsData[poolId].lastUpdate = uint128(block.timestamp);
        poolsData[poolId].totalDeposited += amount;
        emit UserStaked(poolId, msg.sender, amount);
    }

    function withdraw(uint256 poolId, uint256 amount) external {
        usersData[msg.sender][poolId].deposited -= amount;
        poolsData[poolId].totalDeposited -= amount;
        emit UserWithdrawn(poolId, msg.sender, amount);
    }

    /// @dev A struct with a list inside.
    function positionOf(uint256 poolId, address user) external view returns (Position memory position) {
        position.stamp = Stamp(1, 2);
        position.rewards = new uint256[](2);
        position.data = usersData[user][poolId];
    }

    /// @dev Burns some 100,000 gas: three hundred of them are more than a call may use on a local chain.
    function costlyStakeOf(uint256 poolId, address user) external view returns (uint256 amount) {
        uint256 gasBefore = gasleft();
        amount = usersData[user][poolId].deposited;
        bytes32 burnt;
        while (gasBefore - gasleft() < 100_000) burnt = keccak256(abi.encode(burnt));
    }

    /// @dev Refuses those that have no stake.
    function stakeOf(uint256 poolId, address user) external view returns (uint256 amount) {
        amount = usersData[user][poolId].deposited;
        require(amount > 0, "no stake");
    }
}

/// @dev aggregate3 as https://www.multicall3.com describes it.
contract Aggregator {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index);

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            if (!success && !calls[i].allowFailure) revert CallFailed(i);
            returnData[i] = Result(success, data);
        }
    }
}

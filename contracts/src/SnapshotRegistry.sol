// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControlDefaultAdminRules} from
    "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// @title The Merkle roots of sealed days, and proofs of what a wallet kept staked on them.
/// @notice The service seals each UTC day: a Merkle tree over `(address wallet, uint256 low, address next)`, in the format of
/// OpenZeppelin's StandardMerkleTree. `low` is the lowest balance that the wallet held on the day, `next` the wallet of the
/// following leaf in ascending order. The zero address and the highest address always have a leaf, so that each address is
/// either in a leaf or between the two of one.
///
/// Invariants:
/// - The root of a day is set once, and never changes.
/// - No day has a root before it is over.
/// @dev No proxy, no upgrade; it holds no funds. Days are counted from 1970-01-01 UTC.
contract SnapshotRegistry is AccessControlDefaultAdminRules {
    /// @notice A leaf of a day's tree, with the way to its root.
    /// @param wallet the wallet that the leaf is of
    /// @param low the lowest balance that it held on the day, in the token's smallest unit
    /// @param next the wallet of the following leaf
    /// @param proof the siblings from the leaf up
    struct Leaf {
        address wallet;
        uint256 low;
        address next;
        bytes32[] proof;
    }

    bytes32 public constant PUBLISHER_ROLE = keccak256("PUBLISHER_ROLE");

    /// @notice The staking contracts whose balances are added up: CAIP-10 account ids, separated by commas.
    string public stakedIn;
    /// @notice The root of a day; 0 where there is none.
    mapping(uint256 day => bytes32 root) public rootOf;

    event DayPublished(uint256 indexed day, bytes32 root);

    error ZeroAddress();
    error ZeroRoot();
    error DayNotOver(uint256 day);
    error DayHasRoot(uint256 day, bytes32 root);
    error InvalidProof(uint256 day, address wallet);

    /// @param admin grants and revokes `PUBLISHER_ROLE`
    /// @param adminDelaySeconds how long another account waits for `DEFAULT_ADMIN_ROLE`
    /// @param publisher publishes roots
    /// @param stakedIn_ see `stakedIn`
    constructor(address admin, uint48 adminDelaySeconds, address publisher, string memory stakedIn_)
        AccessControlDefaultAdminRules(adminDelaySeconds, admin)
    {
        if (publisher == address(0)) revert ZeroAddress();
        stakedIn = stakedIn_;
        _grantRole(PUBLISHER_ROLE, publisher);
    }

    /// @notice Sets the root of one day, for ever.
    function publish(uint256 day, bytes32 root) external onlyRole(PUBLISHER_ROLE) {
        if (day >= block.timestamp / 1 days) revert DayNotOver(day);
        if (rootOf[day] != 0) revert DayHasRoot(day, rootOf[day]);
        if (root == 0) revert ZeroRoot();
        rootOf[day] = root;
        emit DayPublished(day, root);
    }

    /// @notice Whether `wallet` held at least `low` all through the day, and no more at its lowest moment.
    function verify(uint256 day, address wallet, uint256 low, address next, bytes32[] calldata proof)
        public
        view
        returns (bool)
    {
        bytes32 root = rootOf[day];
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(wallet, low, next))));
        return root != 0 && MerkleProof.verifyCalldata(proof, root, leaf);
    }

    /// @notice Whether `absent` had nothing staked at some moment of the day: the leaf is of the wallet before it, whose
    /// `next` is beyond it.
    function verifyAbsent(uint256 day, address absent, Leaf calldata leaf) public view returns (bool) {
        return leaf.wallet < absent && absent < leaf.next
            && verify(day, leaf.wallet, leaf.low, leaf.next, leaf.proof);
    }

    /// @notice What `wallet` kept staked all through the day, in the token's smallest unit; 0 where it is absent.
    /// @param leaf its own, or the one that encloses it
    function provenLow(uint256 day, address wallet, Leaf calldata leaf) public view returns (uint256) {
        if (leaf.wallet == wallet) {
            if (verify(day, wallet, leaf.low, leaf.next, leaf.proof)) return leaf.low;
        } else if (verifyAbsent(day, wallet, leaf)) {
            return 0;
        }
        revert InvalidProof(day, wallet);
    }
}

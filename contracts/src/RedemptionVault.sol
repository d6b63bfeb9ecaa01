// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControlDefaultAdminRules} from
    "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title Holds the token and pays redemptions, each at most once, against vouchers of the service.
/// @notice A voucher is EIP-712 typed data, signed by a holder of `SIGNER_ROLE`:
/// `Voucher(bytes32 redemptionId,address recipient,uint256 amount,uint256 deadline)` in the domain "Lowmark Redemption
/// Vault", version "1", of this chain and this contract; so it is worth nothing on another chain or in another vault.
///
/// Invariants:
/// - `status` of a redemption goes from NONE to CLAIMED or to CANCELLED once, and never anywhere else.
/// - Tokens leave by `claim`, together with one `Claimed` event, or by the administrator's `withdraw`.
/// - After the first block with a timestamp above a voucher's deadline, that voucher can never be paid. A redemption whose
///   status is NONE at the end of such a block stays unpaid for ever; no role can change that.
/// - No more than `windowCap` is paid in one window, hence at most twice that within any `windowSeconds`.
/// - A voucher is paid only in the last `maxTtlSeconds` before its deadline. One that was signed for a far deadline, by a
///   mistake or a wrong clock, pays nothing before; its signer can be revoked meanwhile.
/// - `DEFAULT_ADMIN_ROLE` has one holder at a time. Another account gets it only after a delay, which an event announces.
///
/// Pausing, a lowered cap, a revoked signer or an empty vault only refuse claims for a while: none of them touches `status`,
/// so none of them proves that a redemption will stay unpaid.
/// @dev No proxy, no upgrade. The token must move exactly the amount it is asked to move; claims of one that takes a fee
/// revert.
contract RedemptionVault is AccessControlDefaultAdminRules, EIP712, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    enum Status {
        NONE,
        CLAIMED,
        CANCELLED
    }

    /// @param admin grants the other roles, unpauses, sets the cap, withdraws
    /// @param signer signs vouchers
    /// @param canceller cancels redemptions
    /// @param pauser stops claims; not the signer, whose stolen key is a reason to pause
    struct Roles {
        address admin;
        address signer;
        address canceller;
        address pauser;
    }

    /// @param windowSeconds for ever the length of a window
    /// @param windowCap the first cap, in the token's smallest unit
    /// @param maxTtlSeconds for ever how far after a claim its deadline may be
    /// @param adminDelaySeconds how long another account waits for `DEFAULT_ADMIN_ROLE`
    struct Limits {
        uint256 windowSeconds;
        uint256 windowCap;
        uint256 maxTtlSeconds;
        uint48 adminDelaySeconds;
    }

    bytes32 public constant SIGNER_ROLE = keccak256("SIGNER_ROLE");
    bytes32 public constant CANCELLER_ROLE = keccak256("CANCELLER_ROLE");
    bytes32 public constant PAUSER_ROLE = keccak256("PAUSER_ROLE");
    bytes32 public constant VOUCHER_TYPEHASH =
        keccak256("Voucher(bytes32 redemptionId,address recipient,uint256 amount,uint256 deadline)");

    /// @notice What is paid out.
    IERC20 public immutable token;
    /// @notice The length of a window in seconds; windows begin at multiples of it, in Unix time.
    uint256 public immutable windowSeconds;
    /// @notice How far after the block of a claim the voucher's deadline may be.
    uint256 public immutable maxTtlSeconds;
    /// @notice The most that is paid in one window, in the token's smallest unit; 0 stops all claims.
    uint256 public windowCap;
    /// @notice What became of a redemption.
    mapping(bytes32 redemptionId => Status) public status;

    /// @dev The window of the newest claim, and what was paid in it.
    uint256 private _window;
    uint256 private _paidInWindow;

    event Claimed(bytes32 indexed redemptionId, address indexed recipient, uint256 amount, address signer);
    event Cancelled(bytes32 indexed redemptionId, address canceller);
    event WindowCapChanged(uint256 previous, uint256 current);
    event Withdrawn(IERC20 indexed asset, address indexed to, uint256 amount);

    error ZeroAddress();
    error ZeroAmount();
    error ZeroWindow();
    error ZeroMaxTtl();
    error ZeroAdminDelay();
    error PauserIsSigner(address holder);
    error NotAContract(address token);
    error InvalidRecipient(address recipient);
    error VoucherExpired(bytes32 redemptionId, uint256 deadline);
    error DeadlineTooFar(bytes32 redemptionId, uint256 deadline, uint256 latest);
    error RedemptionNotOpen(bytes32 redemptionId, Status status);
    error NotASigner(address recovered);
    error WindowCapExceeded(uint256 remaining, uint256 requested);
    error InsufficientVault(uint256 held, uint256 requested);
    error InexactTransfer();

    /// @param token_ an ERC-20 that takes no fee on transfers
    /// @param roles the first holder of each role
    /// @param limits what bounds the vault
    constructor(IERC20 token_, Roles memory roles, Limits memory limits)
        AccessControlDefaultAdminRules(limits.adminDelaySeconds, roles.admin)
        EIP712("Lowmark Redemption Vault", "1")
    {
        if (address(token_).code.length == 0) revert NotAContract(address(token_));
        if (roles.signer == address(0) || roles.canceller == address(0) || roles.pauser == address(0)) {
            revert ZeroAddress();
        }
        if (roles.pauser == roles.signer) revert PauserIsSigner(roles.pauser);
        if (limits.windowSeconds == 0) revert ZeroWindow();
        if (limits.maxTtlSeconds == 0) revert ZeroMaxTtl();
        if (limits.adminDelaySeconds == 0) revert ZeroAdminDelay();
        token = token_;
        windowSeconds = limits.windowSeconds;
        maxTtlSeconds = limits.maxTtlSeconds;
        _setWindowCap(limits.windowCap);
        _grantRole(SIGNER_ROLE, roles.signer);
        _grantRole(CANCELLER_ROLE, roles.canceller);
        _grantRole(PAUSER_ROLE, roles.pauser);
    }

    /// @notice Pays a voucher to its recipient. Any account may send it.
    /// @param redemptionId the 16 bytes of the redemption's UUID, then 16 zero bytes
    /// @param recipient who is paid
    /// @param amount in the token's smallest unit
    /// @param deadline the last Unix second at which the voucher is good: a block of exactly this time still pays it, and none
    /// that is more than `maxTtlSeconds` older
    /// @param signature 65 bytes, of a holder of `SIGNER_ROLE` at this moment
    function claim(
        bytes32 redemptionId,
        address recipient,
        uint256 amount,
        uint256 deadline,
        bytes calldata signature
    ) external whenNotPaused nonReentrant {
        if (block.timestamp > deadline) revert VoucherExpired(redemptionId, deadline);
        uint256 latest = block.timestamp + maxTtlSeconds;
        if (deadline > latest) revert DeadlineTooFar(redemptionId, deadline, latest);
        _requireOpen(redemptionId);
        if (recipient == address(0) || recipient == address(this)) revert InvalidRecipient(recipient);
        if (amount == 0) revert ZeroAmount();
        address signer =
            ECDSA.recoverCalldata(voucherDigest(redemptionId, recipient, amount, deadline), signature);
        if (!hasRole(SIGNER_ROLE, signer)) revert NotASigner(signer);

        status[redemptionId] = Status.CLAIMED;
        _countInWindow(amount);
        emit Claimed(redemptionId, recipient, amount, signer);
        _pay(recipient, amount);
    }

    /// @notice Makes sure that a redemption is never paid, whatever vouchers there are for it. Possible while paused.
    function cancel(bytes32 redemptionId) external onlyRole(CANCELLER_ROLE) {
        _requireOpen(redemptionId);
        status[redemptionId] = Status.CANCELLED;
        emit Cancelled(redemptionId, msg.sender);
    }

    /// @notice Stops claims. Deadlines go on running.
    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    /// @notice Lets claims through again; not for the pauser, whose key is kept within reach.
    function unpause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        _unpause();
    }

    /// @notice Sets the most that is paid in one window, the running one included.
    function setWindowCap(uint256 cap) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setWindowCap(cap);
    }

    /// @notice Takes tokens out: a surplus, all of it when the vault is given up, or another token sent here by mistake.
    /// @dev The vault does not know which vouchers are out. A claim that then finds too little reverts and leaves `status`
    /// alone: it can be repeated until its deadline.
    function withdraw(IERC20 asset, address to, uint256 amount)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        if (to == address(0)) revert ZeroAddress();
        emit Withdrawn(asset, to, amount);
        asset.safeTransfer(to, amount);
    }

    /// @notice What may still be paid in the window of this block.
    function remainingInWindow() public view returns (uint256) {
        if (block.timestamp / windowSeconds != _window) return windowCap;
        return windowCap > _paidInWindow ? windowCap - _paidInWindow : 0;
    }

    /// @notice What a signer signs.
    function voucherDigest(bytes32 redemptionId, address recipient, uint256 amount, uint256 deadline)
        public
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(
            keccak256(abi.encode(VOUCHER_TYPEHASH, redemptionId, recipient, amount, deadline))
        );
    }

    function _requireOpen(bytes32 redemptionId) private view {
        Status current = status[redemptionId];
        if (current != Status.NONE) revert RedemptionNotOpen(redemptionId, current);
    }

    function _countInWindow(uint256 amount) private {
        uint256 remaining = remainingInWindow();
        if (amount > remaining) revert WindowCapExceeded(remaining, amount);
        uint256 window = block.timestamp / windowSeconds;
        _paidInWindow = window == _window ? _paidInWindow + amount : amount;
        _window = window;
    }

    function _setWindowCap(uint256 cap) private {
        emit WindowCapChanged(windowCap, cap);
        windowCap = cap;
    }

    /// @dev The amounts are frozen in the service's ledger: the recipient gets exactly that, and the vault loses no more.
    function _pay(address recipient, uint256 amount) private {
        uint256 held = token.balanceOf(address(this));
        uint256 had = token.balanceOf(recipient);
        if (held < amount) revert InsufficientVault(held, amount);
        token.safeTransfer(recipient, amount);
        if (token.balanceOf(address(this)) != held - amount || token.balanceOf(recipient) != had + amount) {
            revert InexactTransfer();
        }
    }
}

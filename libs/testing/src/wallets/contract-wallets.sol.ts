import { erc6492SignatureValidatorByteCode } from 'viem';

/**
 * Contract wallets (EIP-1271), correct and faulty ones, their factory, and a deployed verifier of EIP-6492 around
 * viem's creation code.
 */
export const CONTRACT_WALLETS = `
// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract Wallet {
    address private immutable _owner;
    constructor(address owner) { _owner = owner; }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (bytes32 r, bytes32 s, uint8 v) = abi.decode(signature, (bytes32, bytes32, uint8));
        return ecrecover(hash, v, r, s) == _owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

contract Approving {
    mapping(bytes32 => bool) private _isApproved;

    function approve(bytes32 hash) external { _isApproved[hash] = true; }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return signature.length == 0 && _isApproved[hash] ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

contract Factory {
    function make(address owner) external { new Wallet{salt: 0}(owner); }
}

contract Endless {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 sum;
        while (gasleft() > 0) sum++;
        return bytes4(bytes32(sum));
    }
}

contract Reverting {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) { revert("no"); }
}

contract Answering {
    bytes private _answer;
    constructor(bytes memory answer) { _answer = answer; }

    fallback(bytes calldata) external returns (bytes memory) { return _answer; }
}

contract Verifier {
    bytes private constant VALIDATOR = hex"${erc6492SignatureValidatorByteCode.slice(2)}";

    function isValidSig(address signer, bytes32 hash, bytes calldata signature) external returns (bool isValid) {
        bytes memory code = abi.encodePacked(VALIDATOR, abi.encode(signer, hash, signature));
        assembly {
            let answer := create(0, add(code, 32), mload(code))
            if iszero(answer) { revert(0, 0) }
            extcodecopy(answer, 31, 0, 1)
            mstore8(0, 0)
            isValid := and(mload(0), 1)
        }
    }
}`;

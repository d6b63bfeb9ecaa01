// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @dev Burns one of every hundred that the receiver gets, or that many more of the sender's.
contract FeeToken is ERC20 {
    bool private immutable _senderPays;

    constructor(bool senderPays) ERC20("Fee", "FEE") {
        _senderPays = senderPays;
        _mint(msg.sender, 1e24);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from == address(0) || from == tx.origin) return;
        super._update(_senderPays ? from : to, address(0), value / 100);
    }
}

/// @dev Answers false instead of reverting.
contract RefusingToken is ERC20 {
    constructor() ERC20("No", "NO") {
        _mint(msg.sender, 1e24);
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        return msg.sender == tx.origin && super.transfer(to, value);
    }
}

/// @dev Calls back into the vault during its first transfer, with what it was told; reverts should that succeed.
contract ReentrantToken is ERC20 {
    bytes private _again;
    bool private _entered;
    bytes public refusal;

    constructor() ERC20("Again", "AGN") {
        _mint(msg.sender, 1e24);
    }

    function prepare(bytes calldata again) external {
        _again = again;
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (_entered || _again.length == 0) return;
        _entered = true;
        (bool done, bytes memory answer) = from.call(_again);
        require(!done, "entered again");
        refusal = answer;
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The token that is staked: a plain ERC-20 with 18 decimals and a fixed supply.
contract LowmarkToken is ERC20 {
    constructor(address treasury, uint256 supply) ERC20("Lowmark", "LOW") {
        _mint(treasury, supply);
    }
}

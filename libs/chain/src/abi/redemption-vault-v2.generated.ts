// Generated from contracts/src/RedemptionVaultV2.sol by contracts/compile.mjs; do not edit.

export const redemptionVaultV2Abi = [
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "token_",
        "type": "address"
      },
      {
        "components": [
          {
            "internalType": "address",
            "name": "admin",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "signer",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "canceller",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "pauser",
            "type": "address"
          }
        ],
        "internalType": "struct RedemptionVaultV2.Roles",
        "name": "roles",
        "type": "tuple"
      },
      {
        "components": [
          {
            "internalType": "uint256",
            "name": "windowSeconds",
            "type": "uint256"
          },
          {
            "internalType": "uint256",
            "name": "windowCap",
            "type": "uint256"
          },
          {
            "internalType": "uint256",
            "name": "maxTtlSeconds",
            "type": "uint256"
          },
          {
            "internalType": "uint48",
            "name": "adminDelaySeconds",
            "type": "uint48"
          }
        ],
        "internalType": "struct RedemptionVaultV2.Limits",
        "name": "limits",
        "type": "tuple"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "AccessControlBadConfirmation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint48",
        "name": "schedule",
        "type": "uint48"
      }
    ],
    "name": "AccessControlEnforcedDefaultAdminDelay",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "AccessControlEnforcedDefaultAdminRules",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "defaultAdmin",
        "type": "address"
      }
    ],
    "name": "AccessControlInvalidDefaultAdmin",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "neededRole",
        "type": "bytes32"
      }
    ],
    "name": "AccessControlUnauthorizedAccount",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "latest",
        "type": "uint256"
      }
    ],
    "name": "DeadlineTooFar",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ECDSAInvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "length",
        "type": "uint256"
      }
    ],
    "name": "ECDSAInvalidSignatureLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "ECDSAInvalidSignatureS",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "EnforcedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ExpectedPause",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InexactTransfer",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "held",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "requested",
        "type": "uint256"
      }
    ],
    "name": "InsufficientVault",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      }
    ],
    "name": "InvalidRecipient",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "NotAContract",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "recovered",
        "type": "address"
      }
    ],
    "name": "NotASigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "holder",
        "type": "address"
      }
    ],
    "name": "PauserIsSigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "enum RedemptionVaultV2.Status",
        "name": "status",
        "type": "uint8"
      }
    ],
    "name": "RedemptionNotOpen",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ReentrancyGuardReentrantCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint8",
        "name": "bits",
        "type": "uint8"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "SafeCastOverflowedUintDowncast",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "VoucherExpired",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "remaining",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "requested",
        "type": "uint256"
      }
    ],
    "name": "WindowCapExceeded",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAdminDelay",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroAmount",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroMaxTtl",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroWindow",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "canceller",
        "type": "address"
      }
    ],
    "name": "Cancelled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "address",
        "name": "signer",
        "type": "address"
      }
    ],
    "name": "Claimed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "DefaultAdminDelayChangeCanceled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint48",
        "name": "newDelay",
        "type": "uint48"
      },
      {
        "indexed": false,
        "internalType": "uint48",
        "name": "effectSchedule",
        "type": "uint48"
      }
    ],
    "name": "DefaultAdminDelayChangeScheduled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "DefaultAdminTransferCanceled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "newAdmin",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint48",
        "name": "acceptSchedule",
        "type": "uint48"
      }
    ],
    "name": "DefaultAdminTransferScheduled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Paused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "previousAdminRole",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "newAdminRole",
        "type": "bytes32"
      }
    ],
    "name": "RoleAdminChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "RoleGranted",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "RoleRevoked",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "Unpaused",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "previous",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "current",
        "type": "uint256"
      }
    ],
    "name": "WindowCapChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "contract IERC20",
        "name": "asset",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "Withdrawn",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "CANCELLER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "DEFAULT_ADMIN_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "PAUSER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "SIGNER_ROLE",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "VOUCHER_TYPEHASH",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "acceptDefaultAdminTransfer",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newAdmin",
        "type": "address"
      }
    ],
    "name": "beginDefaultAdminTransfer",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      }
    ],
    "name": "cancel",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "cancelDefaultAdminTransfer",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint48",
        "name": "newDelay",
        "type": "uint48"
      }
    ],
    "name": "changeDefaultAdminDelay",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "claim",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "defaultAdmin",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "defaultAdminDelay",
    "outputs": [
      {
        "internalType": "uint48",
        "name": "",
        "type": "uint48"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "defaultAdminDelayIncreaseWait",
    "outputs": [
      {
        "internalType": "uint48",
        "name": "",
        "type": "uint48"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      }
    ],
    "name": "getRoleAdmin",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "grantRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "hasRole",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "maxTtlSeconds",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "paused",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pendingDefaultAdmin",
    "outputs": [
      {
        "internalType": "address",
        "name": "newAdmin",
        "type": "address"
      },
      {
        "internalType": "uint48",
        "name": "schedule",
        "type": "uint48"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pendingDefaultAdminDelay",
    "outputs": [
      {
        "internalType": "uint48",
        "name": "newDelay",
        "type": "uint48"
      },
      {
        "internalType": "uint48",
        "name": "schedule",
        "type": "uint48"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "remainingInWindow",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "renounceRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "role",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "revokeRole",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "rollbackDefaultAdminDelay",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "cap",
        "type": "uint256"
      }
    ],
    "name": "setWindowCap",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      }
    ],
    "name": "status",
    "outputs": [
      {
        "internalType": "enum RedemptionVaultV2.Status",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes4",
        "name": "interfaceId",
        "type": "bytes4"
      }
    ],
    "name": "supportsInterface",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "token",
    "outputs": [
      {
        "internalType": "contract IERC20",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "unpause",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "redemptionId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "recipient",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "voucherDigest",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "windowCap",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "windowSeconds",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "asset",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "withdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const;

export const redemptionVaultV2Bytecode =
  '0x6101c0604052348015610010575f5ffd5b50604051612e93380380612e9383398101604081905261002f9161058b565b604080518082018252601881527f4c6f776d61726b20526564656d7074696f6e205661756c740000000000000000602080830191909152825180840190935260018352603160f81b90830152606083015184519192916001600160a01b0381166100b357604051636116401160e11b81525f60048201526024015b60405180910390fd5b600180546001600160d01b0316600160d01b65ffffffffffff8516021790556100dc5f826103ac565b5050506100ee8261041b60201b60201c565b610120526100fb8161041b565b61014052815160208084019190912060e052815190820120610100524660a05261018760e05161010051604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201529081019290925260608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60805250503060c0526001600160a01b0383163b5f036101c5576040516322a2d07b60e21b81526001600160a01b03841660048201526024016100aa565b60208201516001600160a01b031615806101ea575060408201516001600160a01b0316155b80610200575060608201516001600160a01b0316155b1561021e5760405163d92e233d60e01b815260040160405180910390fd5b81602001516001600160a01b031682606001516001600160a01b0316036102695760608201516040516318d1130160e31b81526001600160a01b0390911660048201526024016100aa565b80515f0361028a57604051634acbbb6560e01b815260040160405180910390fd5b80604001515f036102ae57604051633682d42360e01b815260040160405180910390fd5b806060015165ffffffffffff165f036102da57604051632dc440df60e01b815260040160405180910390fd5b6001600160a01b0383166101605280516101805260408101516101a052602081015161030590610458565b6103397fe2f4eaae4a9751e85a3e4a7b9587827a877f29914755229b07a7b2da98285f7083602001516103ac60201b60201c565b5061036e7ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f78383604001516103ac60201b60201c565b506103a37f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a83606001516103ac60201b60201c565b505050506106ca565b5f82610408575f6103c56002546001600160a01b031690565b6001600160a01b0316146103ec57604051631fe1e13d60e11b815260040160405180910390fd5b600280546001600160a01b0319166001600160a01b0384161790555b6104128383610499565b90505b92915050565b5f5f829050601f81511115610445578260405163305a27a960e01b81526004016100aa919061066f565b8051610450826106a4565b179392505050565b60065460408051918252602082018390527f1d59a09050bfd5dc64c2fd6fafd47fdb38a262f98b419d9cdd86c740924e68d8910160405180910390a1600655565b5f828152602081815260408083206001600160a01b038516845290915281205460ff16610539575f838152602081815260408083206001600160a01b03861684529091529020805460ff191660011790556104f13390565b6001600160a01b0316826001600160a01b0316847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a4506001610415565b505f610415565b6001600160a01b0381168114610554575f5ffd5b50565b604051608081016001600160401b038111828210171561058557634e487b7160e01b5f52604160045260245ffd5b60405290565b5f5f5f83850361012081121561059f575f5ffd5b84516105aa81610540565b93506080601f19820112156105bd575f5ffd5b6105c5610557565b60208601516105d381610540565b815260408601516105e381610540565b602082015260608601516105f681610540565b6040820152608086015161060981610540565b606082015292506080609f1982011215610621575f5ffd5b5061062a610557565b60a0850151815260c0850151602082015260e0850151604082015261010085015165ffffffffffff8116811461065e575f5ffd5b606082015292959194509192509050565b602081525f82518060208401528060208501604085015e5f604082850101526040601f19601f83011684010191505092915050565b805160208083015191908110156106c4575f198160200360031b1b821691505b50919050565b60805160a05160c05160e05161010051610120516101405161016051610180516101a0516127226107715f395f81816102c00152610cdf01525f818161034d015281816107d9015261154301525f81816105f6015281816115c10152818161166f0152818161172b0152818161178a015261184501525f61120f01525f6111e401525f611dc301525f611d9b01525f611cf601525f611d2001525f611d4a01526127225ff3fe608060405234801561000f575f5ffd5b5060043610610269575f3560e01c80638da5cb5b11610157578063ce428b63116100d2578063d602b9fd11610088578063e63ab1e91161006e578063e63ab1e9146105b7578063f0dfae70146105de578063fc0c546a146105f1575f5ffd5b8063d602b9fd1461059c578063d9caed12146105a4575f5ffd5b8063cf6eefb7116100b8578063cf6eefb714610537578063d4cca3b314610576578063d547741f14610589575f5ffd5b8063ce428b6314610526578063cefc14291461052f575f5ffd5b8063a1eda53c11610127578063b08e51c01161010d578063b08e51c0146104e4578063c4d252f51461050b578063cc8463c81461051e575f5ffd5b8063a1eda53c146104b6578063a217fddf146104dd575f5ffd5b80638da5cb5b1461042a57806391d148541461043257806394739e8714610468578063a1ebf35d1461048f575f5ffd5b80634cb5929a116101e7578063649a5ec7116101b75780638456cb591161019d5780638456cb59146103e257806384b0196e146103ea57806384ef8ffc14610405575f5ffd5b8063649a5ec7146103bc57806376a8c0bb146103cf575f5ffd5b80634cb5929a1461034857806352ad0d5e1461036f5780635c975abb1461039e578063634e93da146103a9575f5ffd5b8063248a9ca31161023c57806336568abe1161022257806336568abe146103255780633f4ba83a1461033857806345d95d3414610340575f5ffd5b8063248a9ca3146102f05780632f2ff15d14610312575f5ffd5b806301ffc9a71461026d578063022d63fb146102955780630aa6220b146102b15780630eb5bbf1146102bb575b5f5ffd5b61028061027b3660046122d2565b610618565b60405190151581526020015b60405180910390f35b620697805b60405165ffffffffffff909116815260200161028c565b6102b9610673565b005b6102e27f000000000000000000000000000000000000000000000000000000000000000081565b60405190815260200161028c565b6102e26102fe366004612311565b5f9081526020819052604090206001015490565b6102b961032036600461233c565b610688565b6102b961033336600461233c565b6106cd565b6102b96107bd565b6102e26107cf565b6102e27f000000000000000000000000000000000000000000000000000000000000000081565b61039161037d366004612311565b60076020525f908152604090205460ff1681565b60405161028c91906123d0565b60055460ff16610280565b6102b96103b73660046123de565b61082f565b6102b96103ca3660046123f9565b610842565b6102e26103dd36600461241e565b610855565b6102b96108cf565b6103f2610901565b60405161028c97969594939291906124a4565b6002546001600160a01b03165b6040516001600160a01b03909116815260200161028c565b61041261095f565b61028061044036600461233c565b5f918252602082815260408084206001600160a01b0393909316845291905290205460ff1690565b6102e27f2596ae6b2a2d7809eb099cf9487f155543f6b4ffc92d9c69280dded26fa31c8881565b6102e27fe2f4eaae4a9751e85a3e4a7b9587827a877f29914755229b07a7b2da98285f7081565b6104be610972565b6040805165ffffffffffff93841681529290911660208301520161028c565b6102e25f81565b6102e27ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f78381565b6102b9610519366004612311565b6109ec565b61029a610a72565b6102e260065481565b6102b9610b0f565b600154604080516001600160a01b03831681527401000000000000000000000000000000000000000090920465ffffffffffff1660208301520161028c565b6102b9610584366004612311565b610b5e565b6102b961059736600461233c565b610b71565b6102b9610bb2565b6102b96105b2366004612556565b610bc4565b6102e27f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a81565b6102b96105ec366004612594565b610c85565b6104127f000000000000000000000000000000000000000000000000000000000000000081565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f3149878600000000000000000000000000000000000000000000000000000000148061066d575061066d82610f0c565b92915050565b5f61067d81610fa2565b610685610fac565b50565b816106bf576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6106c98282610fb8565b5050565b811580156106e857506002546001600160a01b038281169116145b156107b3576001546001600160a01b0381169074010000000000000000000000000000000000000000900465ffffffffffff168115158061072f575065ffffffffffff8116155b8061074257504265ffffffffffff821610155b15610788576040517f19ca5ebb00000000000000000000000000000000000000000000000000000000815265ffffffffffff821660048201526024015b60405180910390fd5b5050600180547fffffffffffff000000000000ffffffffffffffffffffffffffffffffffffffff1690555b6106c98282610fdc565b5f6107c781610fa2565b61068561102d565b6008545f906107fe7f00000000000000000000000000000000000000000000000000000000000000004261265d565b1461080a575060065490565b6009546006541161081a57505f90565b60095460065461082a9190612695565b905090565b5f61083981610fa2565b6106c98261107f565b5f61084c81610fa2565b6106c9826110ea565b604080517f2596ae6b2a2d7809eb099cf9487f155543f6b4ffc92d9c69280dded26fa31c8860208201529081018590526001600160a01b03841660608201526080810183905260a081018290525f906108c69060c00160405160208183030381529060405280519060200120611159565b95945050505050565b7f65d7a28e3265b37a6474929f336521b332c1681b933f6cb9f3376673440d862a6108f981610fa2565b6106856111a0565b5f6060805f5f5f60606109126111dd565b61091a611208565b604080515f808252602082019092527f0f000000000000000000000000000000000000000000000000000000000000009b939a50919850469750309650945092509050565b5f61082a6002546001600160a01b031690565b6002545f907a010000000000000000000000000000000000000000000000000000900465ffffffffffff1680151580156109b457504265ffffffffffff821610155b6109bf575f5f6109e4565b60025474010000000000000000000000000000000000000000900465ffffffffffff16815b915091509091565b7ffd643c72710c63c0180259aba6b2d05451e3591a24e58b62239378085726f783610a1681610fa2565b610a1f82611233565b5f82815260076020908152604091829020805460ff19166002179055905133815283917f37f7fee84bd656bac1447df96e3014d8a7e8352e960e827b202efad2f908ecd391015b60405180910390a25050565b6002545f907a010000000000000000000000000000000000000000000000000000900465ffffffffffff168015158015610ab357504265ffffffffffff8216105b610ae5576001547a010000000000000000000000000000000000000000000000000000900465ffffffffffff16610b09565b60025474010000000000000000000000000000000000000000900465ffffffffffff165b91505090565b6001546001600160a01b0316338114610b56576040517fc22c802200000000000000000000000000000000000000000000000000000000815233600482015260240161077f565b610685611292565b5f610b6881610fa2565b6106c982611369565b81610ba8576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6106c982826113aa565b5f610bbc81610fa2565b6106856113ce565b5f610bce81610fa2565b610bd66113d8565b6001600160a01b038316610c16576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b826001600160a01b0316846001600160a01b03167fd1c19fbcd4551a5edfb66d43d2e337c04837afda3482b42bdf569a8fccdae5fb84604051610c5b91815260200190565b60405180910390a3610c776001600160a01b038516848461140d565b610c7f61145b565b50505050565b610c8d611485565b610c956113d8565b82421115610cd9576040517fef73b787000000000000000000000000000000000000000000000000000000008152600481018790526024810184905260440161077f565b5f610d047f0000000000000000000000000000000000000000000000000000000000000000426126a8565b905080841115610d51576040517f013ac0b500000000000000000000000000000000000000000000000000000000815260048101889052602481018590526044810182905260640161077f565b610d5a87611233565b6001600160a01b0386161580610d7857506001600160a01b03861630145b15610dba576040517f17858bbe0000000000000000000000000000000000000000000000000000000081526001600160a01b038716600482015260240161077f565b845f03610df3576040517f1f2a200500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f610e0a610e0389898989610855565b85856114c2565b6001600160a01b0381165f9081527f059f08e7d7ba1c82eddc57afae67f80df851baf38a099607a779825038c3ce5b602052604090205490915060ff16610e88576040517fa02960920000000000000000000000000000000000000000000000000000000081526001600160a01b038216600482015260240161077f565b5f888152600760205260409020805460ff19166001179055610ea9866114ee565b604080518781526001600160a01b0383811660208301528916918a917fba78a15e874441cf1871e3d2633ba91540bab663ae8664088ace7d60009ddd65910160405180910390a3610efa8787611591565b5050610f0461145b565b505050505050565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f7965db0b00000000000000000000000000000000000000000000000000000000148061066d57507f01ffc9a7000000000000000000000000000000000000000000000000000000007fffffffff0000000000000000000000000000000000000000000000000000000083161461066d565b61068581336118e8565b610fb65f5f611953565b565b5f82815260208190526040902060010154610fd281610fa2565b610c7f8383611a9f565b6001600160a01b038116331461101e576040517f6697b23200000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6110288282611b36565b505050565b611035611b8a565b6005805460ff191690557f5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa335b6040516001600160a01b03909116815260200160405180910390a1565b5f611088610a72565b61109142611bc6565b61109b91906126bb565b90506110a78282611c15565b60405165ffffffffffff821681526001600160a01b038316907f3377dc44241e779dd06afab5b788a35ca5f3b778836e2990bdb26a2a4b2e5ed690602001610a66565b5f6110f482611ca3565b6110fd42611bc6565b61110791906126bb565b90506111138282611953565b6040805165ffffffffffff8085168252831660208201527ff1038c18cf84a56e432fdbfaf746924b7ea511dfe03a6506a0ceba4888788d9b910160405180910390a15050565b5f61066d611165611cea565b836040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b6111a8611485565b6005805460ff191660011790557f62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a2586110623390565b606061082a7f0000000000000000000000000000000000000000000000000000000000000000611e13565b606061082a7f0000000000000000000000000000000000000000000000000000000000000000611e13565b5f8181526007602052604081205460ff16908160028111156112575761125761236a565b146106c95781816040517fb2e624eb00000000000000000000000000000000000000000000000000000000815260040161077f9291906126d9565b6001546001600160a01b0381169074010000000000000000000000000000000000000000900465ffffffffffff168015806112d557504265ffffffffffff821610155b15611316576040517f19ca5ebb00000000000000000000000000000000000000000000000000000000815265ffffffffffff8216600482015260240161077f565b6113315f61132c6002546001600160a01b031690565b611b36565b5061133c5f83611a9f565b5050600180547fffffffffffff000000000000000000000000000000000000000000000000000016905550565b60065460408051918252602082018390527f1d59a09050bfd5dc64c2fd6fafd47fdb38a262f98b419d9cdd86c740924e68d8910160405180910390a1600655565b5f828152602081905260409020600101546113c481610fa2565b610c7f8383611b36565b610fb65f5f611c15565b6113e0611e50565b610fb660017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005b90611ea9565b61141a8383836001611eb0565b611028576040517f5274afe70000000000000000000000000000000000000000000000000000000081526001600160a01b038416600482015260240161077f565b610fb65f7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f00611407565b60055460ff1615610fb6576040517fd93c066500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f5f5f5f6114d1878787611f2b565b9250925092506114e18282611f72565b50909150505b9392505050565b5f6114f76107cf565b90508082111561153d576040517f703308c7000000000000000000000000000000000000000000000000000000008152600481018290526024810183905260440161077f565b5f6115687f00000000000000000000000000000000000000000000000000000000000000004261265d565b905060085481146115795782611587565b8260095461158791906126a8565b6009556008555050565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f907f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316906370a0823190602401602060405180830381865afa15801561160e573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061163291906126ed565b6040517f70a082310000000000000000000000000000000000000000000000000000000081526001600160a01b0385811660048301529192505f917f000000000000000000000000000000000000000000000000000000000000000016906370a0823190602401602060405180830381865afa1580156116b4573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906116d891906126ed565b90508282101561171e576040517f556b850b000000000000000000000000000000000000000000000000000000008152600481018390526024810184905260440161077f565b6117526001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016858561140d565b61175c8383612695565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201527f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316906370a0823190602401602060405180830381865afa1580156117d7573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906117fb91906126ed565b1415806118b1575061180d83826126a8565b6040517f70a082310000000000000000000000000000000000000000000000000000000081526001600160a01b0386811660048301527f000000000000000000000000000000000000000000000000000000000000000016906370a0823190602401602060405180830381865afa15801561188a573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906118ae91906126ed565b14155b15610c7f576040517fee20c61800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f828152602081815260408083206001600160a01b038516845290915290205460ff166106c9576040517fe2517d3f0000000000000000000000000000000000000000000000000000000081526001600160a01b03821660048201526024810183905260440161077f565b6002547a010000000000000000000000000000000000000000000000000000900465ffffffffffff168015611a27574265ffffffffffff821610156119fe576002546001805479ffffffffffffffffffffffffffffffffffffffffffffffffffff167401000000000000000000000000000000000000000090920465ffffffffffff167a01000000000000000000000000000000000000000000000000000002919091179055611a27565b6040517f2b1fa2edafe6f7b9e97c1a9e0c3660e645beb2dcaa2d45bdbf9beaf5472e1ec5905f90a15b50600280546001600160a01b03167401000000000000000000000000000000000000000065ffffffffffff9485160279ffffffffffffffffffffffffffffffffffffffffffffffffffff16177a0100000000000000000000000000000000000000000000000000009290931691909102919091179055565b5f82611b2c575f611ab86002546001600160a01b031690565b6001600160a01b031614611af8576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600280547fffffffffffffffffffffffff0000000000000000000000000000000000000000166001600160a01b0384161790555b6114e78383612075565b5f82158015611b5257506002546001600160a01b038381169116145b15611b8057600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001690555b6114e7838361211c565b60055460ff16610fb6576040517f8dfc202b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f65ffffffffffff821115611c11576040517f6dfcc650000000000000000000000000000000000000000000000000000000008152603060048201526024810183905260440161077f565b5090565b600180547401000000000000000000000000000000000000000065ffffffffffff84811682027fffffffffffff000000000000000000000000000000000000000000000000000084166001600160a01b03881617179093559004168015611028576040517f8886ebfc4259abdbc16601dd8fb5678e54878f47b3c34836cfc51154a9605109905f90a1505050565b5f5f611cad610a72565b90508065ffffffffffff168365ffffffffffff1611611cd557611cd08382612704565b6114e7565b6114e765ffffffffffff84166206978061219d565b5f306001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016148015611d4257507f000000000000000000000000000000000000000000000000000000000000000046145b15611d6c57507f000000000000000000000000000000000000000000000000000000000000000090565b61082a604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201527f0000000000000000000000000000000000000000000000000000000000000000918101919091527f000000000000000000000000000000000000000000000000000000000000000060608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60605f611e1f836121ac565b6040805160208082528183019092529192505f91906020820181803683375050509182525060208101929092525090565b7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005c15610fb6576040517f3ee5aeb500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80825d5050565b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f8181526001600160a01b038616600452602485905291602083604481808b5af1925060015f51148316611f1f578383151615611f13573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b5f80806041849003611f5f578435602086013560408701355f1a611f51898285856121ec565b955095509550505050611f69565b505f915060029050825b93509350939050565b5f826003811115611f8557611f8561236a565b03611f8e575050565b6001826003811115611fa257611fa261236a565b03611fd9576040517ff645eedf00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6002826003811115611fed57611fed61236a565b03612027576040517ffce698f70000000000000000000000000000000000000000000000000000000081526004810182905260240161077f565b600382600381111561203b5761203b61236a565b036106c9576040517fd78bce0c0000000000000000000000000000000000000000000000000000000081526004810182905260240161077f565b5f828152602081815260408083206001600160a01b038516845290915281205460ff16612115575f838152602081815260408083206001600160a01b03861684529091529020805460ff191660011790556120cd3390565b6001600160a01b0316826001600160a01b0316847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a450600161066d565b505f61066d565b5f828152602081815260408083206001600160a01b038516845290915281205460ff1615612115575f838152602081815260408083206001600160a01b0386168085529252808320805460ff1916905551339286917ff6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b9190a450600161066d565b5f8282188284100282186114e7565b5f60ff8216601f81111561066d576040517fb3512b0c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a084111561222557505f915060039050826122c8565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa158015612276573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe001519150506001600160a01b0381166122bf57505f9250600191508290506122c8565b92505f91508190505b9450945094915050565b5f602082840312156122e2575f5ffd5b81357fffffffff00000000000000000000000000000000000000000000000000000000811681146114e7575f5ffd5b5f60208284031215612321575f5ffd5b5035919050565b6001600160a01b0381168114610685575f5ffd5b5f5f6040838503121561234d575f5ffd5b82359150602083013561235f81612328565b809150509250929050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b600381106123cc577f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b9052565b6020810161066d8284612397565b5f602082840312156123ee575f5ffd5b81356114e781612328565b5f60208284031215612409575f5ffd5b813565ffffffffffff811681146114e7575f5ffd5b5f5f5f5f60808587031215612431575f5ffd5b84359350602085013561244381612328565b93969395505050506040820135916060013590565b5f81518084528060208401602086015e5f6020828601015260207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011685010191505092915050565b7fff000000000000000000000000000000000000000000000000000000000000008816815260e060208201525f6124de60e0830189612458565b82810360408401526124f08189612458565b606084018890526001600160a01b038716608085015260a0840186905283810360c0850152845180825260208087019350909101905f5b81811015612545578351835260209384019390920191600101612527565b50909b9a5050505050505050505050565b5f5f5f60608486031215612568575f5ffd5b833561257381612328565b9250602084013561258381612328565b929592945050506040919091013590565b5f5f5f5f5f5f60a087890312156125a9575f5ffd5b8635955060208701356125bb81612328565b94506040870135935060608701359250608087013567ffffffffffffffff8111156125e4575f5ffd5b8701601f810189136125f4575f5ffd5b803567ffffffffffffffff81111561260a575f5ffd5b89602082840101111561261b575f5ffd5b60208201935080925050509295509295509295565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b5f82612690577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b8181038181111561066d5761066d612630565b8082018082111561066d5761066d612630565b65ffffffffffff818116838216019081111561066d5761066d612630565b828152604081016114e76020830184612397565b5f602082840312156126fd575f5ffd5b5051919050565b65ffffffffffff828116828216039081111561066d5761066d61263056' as const;

export const redemptionVaultV2Runtime = {
  "bytes": 10018,
  "immutables": [
    704,
    845,
    1526,
    2009,
    3295,
    4580,
    4623,
    5443,
    5569,
    5743,
    5931,
    6026,
    6213,
    7414,
    7456,
    7498,
    7579,
    7619
  ]
} as const;

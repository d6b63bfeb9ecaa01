// Generated from contracts/src/SnapshotRegistry.sol by contracts/compile.mjs; do not edit.

export const snapshotRegistryAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "admin",
        "type": "address"
      },
      {
        "internalType": "uint48",
        "name": "adminDelaySeconds",
        "type": "uint48"
      },
      {
        "internalType": "address",
        "name": "publisher",
        "type": "address"
      },
      {
        "internalType": "string",
        "name": "stakedIn_",
        "type": "string"
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
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "DayHasRoot",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      }
    ],
    "name": "DayNotOver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "lastDay",
        "type": "uint256"
      }
    ],
    "name": "InvalidPeriod",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "wallet",
        "type": "address"
      }
    ],
    "name": "InvalidProof",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "endDay",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "lastDays",
        "type": "uint256"
      }
    ],
    "name": "InvalidWindow",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      }
    ],
    "name": "NotInPeriod",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "nextPeriodDay",
        "type": "uint256"
      }
    ],
    "name": "PeriodOverlaps",
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
    "inputs": [],
    "name": "ZeroAddress",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ZeroRoot",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "DayPublished",
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
    "inputs": [
      {
        "indexed": true,
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "lastDay",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "PeriodPublished",
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
    "name": "MAX_AVERAGE_DAYS",
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
    "name": "MAX_PERIOD_DAYS",
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
    "name": "PUBLISHER_ROLE",
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
    "name": "nextPeriodDay",
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
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32[]",
        "name": "proof",
        "type": "bytes32[]"
      }
    ],
    "name": "openDay",
    "outputs": [],
    "stateMutability": "nonpayable",
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
    "inputs": [
      {
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      }
    ],
    "name": "periods",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "lastDay",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "wallet",
        "type": "address"
      },
      {
        "components": [
          {
            "internalType": "address",
            "name": "wallet",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "low",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "next",
            "type": "address"
          },
          {
            "internalType": "bytes32[]",
            "name": "proof",
            "type": "bytes32[]"
          }
        ],
        "internalType": "struct SnapshotRegistry.Leaf",
        "name": "leaf",
        "type": "tuple"
      }
    ],
    "name": "provenLow",
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
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "publish",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "firstDay",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "lastDay",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "name": "publishPeriod",
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
        "name": "day",
        "type": "uint256"
      }
    ],
    "name": "rootOf",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "root",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "stakedIn",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
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
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "wallet",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "low",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "next",
        "type": "address"
      },
      {
        "internalType": "bytes32[]",
        "name": "proof",
        "type": "bytes32[]"
      }
    ],
    "name": "verify",
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
    "inputs": [
      {
        "internalType": "uint256",
        "name": "day",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "absent",
        "type": "address"
      },
      {
        "components": [
          {
            "internalType": "address",
            "name": "wallet",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "low",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "next",
            "type": "address"
          },
          {
            "internalType": "bytes32[]",
            "name": "proof",
            "type": "bytes32[]"
          }
        ],
        "internalType": "struct SnapshotRegistry.Leaf",
        "name": "leaf",
        "type": "tuple"
      }
    ],
    "name": "verifyAbsent",
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
    "inputs": [
      {
        "internalType": "uint256",
        "name": "endDay",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "wallet",
        "type": "address"
      },
      {
        "components": [
          {
            "internalType": "address",
            "name": "wallet",
            "type": "address"
          },
          {
            "internalType": "uint256",
            "name": "low",
            "type": "uint256"
          },
          {
            "internalType": "address",
            "name": "next",
            "type": "address"
          },
          {
            "internalType": "bytes32[]",
            "name": "proof",
            "type": "bytes32[]"
          }
        ],
        "internalType": "struct SnapshotRegistry.Leaf[]",
        "name": "leaves",
        "type": "tuple[]"
      }
    ],
    "name": "verifyAverage",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  }
] as const;

export const snapshotRegistryBytecode =
  '0x608060405234801561000f575f5ffd5b506040516124b23803806124b283398101604081905261002e91610236565b82846001600160a01b03811661005d57604051636116401160e11b81525f600482015260240160405180910390fd5b600180546001600160d01b0316600160d01b65ffffffffffff8516021790556100865f826100f1565b5050506001600160a01b0382166100b05760405163d92e233d60e01b815260040160405180910390fd5b60036100bc82826103b3565b506100e77f0ac90c257048ef1c3e387c26d4a99bde06894efbcbff862dc1885c3a9319308a836100f1565b5050505050610471565b5f8261014d575f61010a6002546001600160a01b031690565b6001600160a01b03161461013157604051631fe1e13d60e11b815260040160405180910390fd5b600280546001600160a01b0319166001600160a01b0384161790555b6101578383610160565b90505b92915050565b5f828152602081815260408083206001600160a01b038516845290915281205460ff16610200575f838152602081815260408083206001600160a01b03861684529091529020805460ff191660011790556101b83390565b6001600160a01b0316826001600160a01b0316847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a450600161015a565b505f61015a565b80516001600160a01b038116811461021d575f5ffd5b919050565b634e487b7160e01b5f52604160045260245ffd5b5f5f5f5f60808587031215610249575f5ffd5b61025285610207565b9350602085015165ffffffffffff8116811461026c575f5ffd5b925061027a60408601610207565b60608601519092506001600160401b03811115610295575f5ffd5b8501601f810187136102a5575f5ffd5b80516001600160401b038111156102be576102be610222565b604051601f8201601f19908116603f011681016001600160401b03811182821017156102ec576102ec610222565b604052818152828201602001891015610303575f5ffd5b8160208401602083015e5f6020838301015280935050505092959194509250565b600181811c9082168061033857607f821691505b60208210810361035657634e487b7160e01b5f52602260045260245ffd5b50919050565b601f8211156103ae57828211156103ae57805f5260205f20601f840160051c602085101561038757505f5b90810190601f840160051c035f5b818110156103aa575f83820155600101610395565b5050505b505050565b81516001600160401b038111156103cc576103cc610222565b6103e0816103da8454610324565b8461035c565b6020601f821160018114610412575f83156103fb5750848201515b5f19600385901b1c1916600184901b17845561046a565b5f84815260208120601f198516915b828110156104415787850151825560209485019460019092019101610421565b508482101561045e57868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b6120348061047e5f395ff3fe608060405234801561000f575f5ffd5b50600436106101e7575f3560e01c8063a1eda53c11610109578063cefc14291161009e578063d8f4b6fd1161006e578063d8f4b6fd1461047b578063dc299d69146104a2578063e4b6240a146104c1578063ea4a1104146104d6575f5ffd5b8063cefc14291461040c578063cf6eefb714610414578063d547741f14610460578063d602b9fd14610473575f5ffd5b8063b98966d7116100d9578063b98966d7146103d5578063c5a2d352146103e8578063ca3a41de146103fb578063cc8463c814610404575f5ffd5b8063a1eda53c14610381578063a217fddf146103a8578063aab911fe146103af578063b7a64372146103c2575f5ffd5b80634d3703ce1161017f578063649a5ec71161014f578063649a5ec7146102e457806384ef8ffc146102f75780638da5cb5b1461033657806391d148541461033e575f5ffd5b80634d3703ce146102ab5780635aba23381461025a5780635cc2c3b8146102be578063634e93da146102d1575f5ffd5b80631d010212116101ba5780631d0102121461025a578063248a9ca3146102635780632f2ff15d1461028557806336568abe14610298575f5ffd5b806301ffc9a7146101eb578063022d63fb146102135780630aa6220b1461022f5780631a4d102e14610239575b5f5ffd5b6101fe6101f9366004611b07565b610511565b60405190151581526020015b60405180910390f35b620697805b60405165ffffffffffff909116815260200161020a565b61023761056c565b005b61024c610247366004611b6e565b610581565b60405190815260200161020a565b61024c61016e81565b61024c610271366004611bc7565b5f9081526020819052604090206001015490565b610237610293366004611bde565b610671565b6102376102a6366004611bde565b6106b6565b6102376102b9366004611c08565b6107bb565b61024c6102cc366004611c79565b610947565b6102376102df366004611ccf565b610a20565b6102376102f2366004611ce8565b610a33565b60025473ffffffffffffffffffffffffffffffffffffffff165b60405173ffffffffffffffffffffffffffffffffffffffff909116815260200161020a565b610311610a46565b6101fe61034c366004611bde565b5f9182526020828152604080842073ffffffffffffffffffffffffffffffffffffffff93909316845291905290205460ff1690565b610389610a6b565b6040805165ffffffffffff93841681529290911660208301520161020a565b61024c5f81565b6101fe6103bd366004611d0d565b610ae5565b6101fe6103d0366004611b6e565b610bc0565b6102376103e3366004611d80565b610c77565b6102376103f6366004611ddc565b610e17565b61024c60065481565b610218610eb9565b610237610f56565b6001546040805173ffffffffffffffffffffffffffffffffffffffff831681527401000000000000000000000000000000000000000090920465ffffffffffff1660208301520161020a565b61023761046e366004611bde565b610fb2565b610237610ff3565b61024c7f0ac90c257048ef1c3e387c26d4a99bde06894efbcbff862dc1885c3a9319308a81565b61024c6104b0366004611bc7565b60046020525f908152604090205481565b6104c9611005565b60405161020a9190611dfc565b6104fc6104e4366004611bc7565b60056020525f90815260409020805460019091015482565b6040805192835260208301919091520161020a565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f31498786000000000000000000000000000000000000000000000000000000001480610566575061056682611091565b92915050565b5f61057681611127565b61057e611131565b50565b5f73ffffffffffffffffffffffffffffffffffffffff83166105a66020840184611ccf565b73ffffffffffffffffffffffffffffffffffffffff16036105fd576105e8848460208501356105db6060870160408801611ccf565b6103bd6060880188611e4f565b156105f85750602081013561066a565b610614565b610608848484610bc0565b1561061457505f61066a565b6040517fdab3a3fb0000000000000000000000000000000000000000000000000000000081526004810185905273ffffffffffffffffffffffffffffffffffffffff841660248201526044015b60405180910390fd5b9392505050565b816106a8576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6106b2828261113d565b5050565b811580156106de575060025473ffffffffffffffffffffffffffffffffffffffff8281169116145b156107b15760015473ffffffffffffffffffffffffffffffffffffffff81169074010000000000000000000000000000000000000000900465ffffffffffff1681151580610732575065ffffffffffff8116155b8061074557504265ffffffffffff821610155b15610786576040517f19ca5ebb00000000000000000000000000000000000000000000000000000000815265ffffffffffff82166004820152602401610661565b5050600180547fffffffffffff000000000000ffffffffffffffffffffffffffffffffffffffff1690555b6106b28282611167565b7f0ac90c257048ef1c3e387c26d4a99bde06894efbcbff862dc1885c3a9319308a6107e581611127565b838310806107fe575061016e6107fb8585611ee0565b10155b1561083f576040517f17256a4c0000000000000000000000000000000000000000000000000000000081526004810185905260248101849052604401610661565b600654841015610889576006546040517f2e10ca9b000000000000000000000000000000000000000000000000000000008152610661918691600401918252602082015260400190565b610892836111c0565b5f8290036108cc576040517fb263ae7300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60408051808201825284815260208082018581525f8881526005909252929020905181559051600191820155610903908490611ef3565b600655604080518481526020810184905285917fa37bf8ba50ac3874272edbda708d6016e7434d2668615cdef4429dd16aeb88f2910160405180910390a250505050565b5f81801580610957575061016e81115b8061096157508086105b156109a2576040517f5fe400910000000000000000000000000000000000000000000000000000000081526004810187905260248101829052604401610661565b5f805b82811015610a0a576109f681846109bd8b6001611ef3565b6109c79190611ee0565b6109d19190611ef3565b888888858181106109e4576109e4611f06565b90506020028101906102479190611f33565b610a009083611ef3565b91506001016109a5565b50610a158282611f6f565b979650505050505050565b5f610a2a81611127565b6106b282611208565b5f610a3d81611127565b6106b282611288565b5f610a6660025473ffffffffffffffffffffffffffffffffffffffff1690565b905090565b6002545f907a010000000000000000000000000000000000000000000000000000900465ffffffffffff168015158015610aad57504265ffffffffffff821610155b610ab8575f5f610add565b60025474010000000000000000000000000000000000000000900465ffffffffffff16815b915091509091565b5f86815260046020908152604080832054815173ffffffffffffffffffffffffffffffffffffffff808b169482019490945291820188905291861660608201528290608001604080517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe081840301815282825280516020918201209083015201604080517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0818403018152919052805160209091012090508115801590610bb35750610bb3858584846112f7565b9998505050505050505050565b5f73ffffffffffffffffffffffffffffffffffffffff8316610be56020840184611ccf565b73ffffffffffffffffffffffffffffffffffffffff16108015610c425750610c136060830160408401611ccf565b73ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff16105b8015610c6f5750610c6f84610c5a6020850185611ccf565b60208501356105db6060870160408801611ccf565b949350505050565b5f85815260056020908152604091829020825180840190935280548352600101549082015285851080610caa5750805185115b15610ceb576040517fa96518f70000000000000000000000000000000000000000000000000000000081526004810186905260248101879052604401610661565b60408051602081018790529081018590525f90606001604080517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe081840301815282825280516020918201209083015201604051602081830303815290604052805190602001209050610d6484848460200151846112f7565b610da3576040517fdab3a3fb000000000000000000000000000000000000000000000000000000008152600481018790525f6024820152604401610661565b5f86815260046020526040902054858103610dc057505050610e10565b8015610e02576040517f5184994c0000000000000000000000000000000000000000000000000000000081526004810188905260248101829052604401610661565b610e0c878761130e565b5050505b5050505050565b7f0ac90c257048ef1c3e387c26d4a99bde06894efbcbff862dc1885c3a9319308a610e4181611127565b610e4a836111c0565b5f8381526004602052604090205415610eaa575f838152600460208190526040918290205491517f5184994c0000000000000000000000000000000000000000000000000000000081529081018590526024810191909152604401610661565b610eb4838361130e565b505050565b6002545f907a010000000000000000000000000000000000000000000000000000900465ffffffffffff168015158015610efa57504265ffffffffffff8216105b610f2c576001547a010000000000000000000000000000000000000000000000000000900465ffffffffffff16610f50565b60025474010000000000000000000000000000000000000000900465ffffffffffff165b91505090565b60015473ffffffffffffffffffffffffffffffffffffffff16338114610faa576040517fc22c8022000000000000000000000000000000000000000000000000000000008152336004820152602401610661565b61057e61138c565b81610fe9576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6106b2828261147d565b5f610ffd81611127565b61057e6114a1565b6003805461101290611fa7565b80601f016020809104026020016040519081016040528092919081815260200182805461103e90611fa7565b80156110895780601f1061106057610100808354040283529160200191611089565b820191905f5260205f20905b81548152906001019060200180831161106c57829003601f168201915b505050505081565b5f7fffffffff0000000000000000000000000000000000000000000000000000000082167f7965db0b00000000000000000000000000000000000000000000000000000000148061056657507f01ffc9a7000000000000000000000000000000000000000000000000000000007fffffffff00000000000000000000000000000000000000000000000000000000831614610566565b61057e81336114ab565b61113b5f5f611530565b565b5f8281526020819052604090206001015461115781611127565b6111618383611689565b50505050565b73ffffffffffffffffffffffffffffffffffffffff811633146111b6576040517f6697b23200000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b610eb48282611747565b6111cd6201518042611f6f565b811061057e576040517f503a4be600000000000000000000000000000000000000000000000000000000815260048101829052602401610661565b5f611211610eb9565b61121a426117a8565b6112249190611ff8565b905061123082826117f7565b60405165ffffffffffff8216815273ffffffffffffffffffffffffffffffffffffffff8316907f3377dc44241e779dd06afab5b788a35ca5f3b778836e2990bdb26a2a4b2e5ed6906020015b60405180910390a25050565b5f61129282611892565b61129b426117a8565b6112a59190611ff8565b90506112b18282611530565b6040805165ffffffffffff8085168252831660208201527ff1038c18cf84a56e432fdbfaf746924b7ea511dfe03a6506a0ceba4888788d9b910160405180910390a15050565b5f826113048686856118d9565b1495945050505050565b5f819003611348576040517fb263ae7300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f82815260046020526040908190208290555182907fc9741129ec9094cb7e70a6d0399c36c5a58ddf31d38aa336c6ed4906d04770d69061127c9084815260200190565b60015473ffffffffffffffffffffffffffffffffffffffff81169074010000000000000000000000000000000000000000900465ffffffffffff168015806113dc57504265ffffffffffff821610155b1561141d576040517f19ca5ebb00000000000000000000000000000000000000000000000000000000815265ffffffffffff82166004820152602401610661565b6114455f61144060025473ffffffffffffffffffffffffffffffffffffffff1690565b611747565b506114505f83611689565b5050600180547fffffffffffff000000000000000000000000000000000000000000000000000016905550565b5f8281526020819052604090206001015461149781611127565b6111618383611747565b61113b5f5f6117f7565b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915290205460ff166106b2576040517fe2517d3f00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8216600482015260248101839052604401610661565b6002547a010000000000000000000000000000000000000000000000000000900465ffffffffffff168015611604574265ffffffffffff821610156115db576002546001805479ffffffffffffffffffffffffffffffffffffffffffffffffffff167401000000000000000000000000000000000000000090920465ffffffffffff167a01000000000000000000000000000000000000000000000000000002919091179055611604565b6040517f2b1fa2edafe6f7b9e97c1a9e0c3660e645beb2dcaa2d45bdbf9beaf5472e1ec5905f90a15b506002805473ffffffffffffffffffffffffffffffffffffffff167401000000000000000000000000000000000000000065ffffffffffff9485160279ffffffffffffffffffffffffffffffffffffffffffffffffffff16177a0100000000000000000000000000000000000000000000000000009290931691909102919091179055565b5f8261173d575f6116af60025473ffffffffffffffffffffffffffffffffffffffff1690565b73ffffffffffffffffffffffffffffffffffffffff16146116fc576040517f3fc3c27a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff84161790555b61066a838361191a565b5f82158015611770575060025473ffffffffffffffffffffffffffffffffffffffff8381169116145b1561179e57600280547fffffffffffffffffffffffff00000000000000000000000000000000000000001690555b61066a8383611a13565b5f65ffffffffffff8211156117f3576040517f6dfcc6500000000000000000000000000000000000000000000000000000000081526030600482015260248101839052604401610661565b5090565b600180547401000000000000000000000000000000000000000065ffffffffffff84811682027fffffffffffff0000000000000000000000000000000000000000000000000000841673ffffffffffffffffffffffffffffffffffffffff881617179093559004168015610eb4576040517f8886ebfc4259abdbc16601dd8fb5678e54878f47b3c34836cfc51154a9605109905f90a1505050565b5f5f61189c610eb9565b90508065ffffffffffff168365ffffffffffff16116118c4576118bf8382612016565b61066a565b61066a65ffffffffffff841662069780611acc565b5f81815b8481101561191157611907828787848181106118fb576118fb611f06565b90506020020135611adb565b91506001016118dd565b50949350505050565b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915281205460ff16611a0c575f8381526020818152604080832073ffffffffffffffffffffffffffffffffffffffff86168452909152902080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff001660011790556119aa3390565b73ffffffffffffffffffffffffffffffffffffffff168273ffffffffffffffffffffffffffffffffffffffff16847f2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d60405160405180910390a4506001610566565b505f610566565b5f8281526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8516845290915281205460ff1615611a0c575f8381526020818152604080832073ffffffffffffffffffffffffffffffffffffffff8616808552925280832080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0016905551339286917ff6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b9190a4506001610566565b5f82821882841002821861066a565b5f818310611af5575f82815260208490526040902061066a565b5f83815260208390526040902061066a565b5f60208284031215611b17575f5ffd5b81357fffffffff000000000000000000000000000000000000000000000000000000008116811461066a575f5ffd5b803573ffffffffffffffffffffffffffffffffffffffff81168114611b69575f5ffd5b919050565b5f5f5f60608486031215611b80575f5ffd5b83359250611b9060208501611b46565b9150604084013567ffffffffffffffff811115611bab575f5ffd5b840160808187031215611bbc575f5ffd5b809150509250925092565b5f60208284031215611bd7575f5ffd5b5035919050565b5f5f60408385031215611bef575f5ffd5b82359150611bff60208401611b46565b90509250929050565b5f5f5f60608486031215611c1a575f5ffd5b505081359360208301359350604090920135919050565b5f5f83601f840112611c41575f5ffd5b50813567ffffffffffffffff811115611c58575f5ffd5b6020830191508360208260051b8501011115611c72575f5ffd5b9250929050565b5f5f5f5f60608587031215611c8c575f5ffd5b84359350611c9c60208601611b46565b9250604085013567ffffffffffffffff811115611cb7575f5ffd5b611cc387828801611c31565b95989497509550505050565b5f60208284031215611cdf575f5ffd5b61066a82611b46565b5f60208284031215611cf8575f5ffd5b813565ffffffffffff8116811461066a575f5ffd5b5f5f5f5f5f5f60a08789031215611d22575f5ffd5b86359550611d3260208801611b46565b945060408701359350611d4760608801611b46565b9250608087013567ffffffffffffffff811115611d62575f5ffd5b611d6e89828a01611c31565b979a9699509497509295939492505050565b5f5f5f5f5f60808688031215611d94575f5ffd5b853594506020860135935060408601359250606086013567ffffffffffffffff811115611dbf575f5ffd5b611dcb88828901611c31565b969995985093965092949392505050565b5f5f60408385031215611ded575f5ffd5b50508035926020909101359150565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b5f5f83357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe1843603018112611e82575f5ffd5b83018035915067ffffffffffffffff821115611e9c575f5ffd5b6020019150600581901b3603821315611c72575f5ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b8181038181111561056657610566611eb3565b8082018082111561056657610566611eb3565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b5f82357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff81833603018112611f65575f5ffd5b9190910192915050565b5f82611fa2577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b500490565b600181811c90821680611fbb57607f821691505b602082108103611ff2577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b65ffffffffffff818116838216019081111561056657610566611eb3565b65ffffffffffff828116828216039081111561056657610566611eb356' as const;

export const snapshotRegistryRuntime = {
  "bytes": 8244,
  "immutables": []
} as const;

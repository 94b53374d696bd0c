//! Room for more than 51 network devices: User-Mode Linux has 64 interrupts and takes 4 KiB of command line.

use super::Edits;

/// Each device takes one interrupt. To the 64 as many are added as the command line has devices; more would only take memory.
pub(super) const INTERRUPTS: [Edits; 2] = [
    Edits {
        file: "arch/um/include/asm/irq.h",
        edits: &[("#define UM_LAST_SIGNAL_IRQ\t64\n", "#define UM_LAST_SIGNAL_IRQ\t1040\n")],
        without: FEW,
    },
    Edits {
        file: "arch/um/kernel/irq.c",
        edits: &[
            (
                "#include <linux/cpumask.h>\n",
                "#include <linux/cpumask.h>\n#include <linux/init.h>\n#include <asm/setup.h>\n",
            ),
            (
                "int __init arch_probe_nr_irqs(void)\n{\n\treturn NR_IRQS;\n}\n",
                "int __init arch_probe_nr_irqs(void)\n{\n\
                 \tconst char *device = boot_command_line;\n\
                 \tint count = 64;\n\n\
                 \twhile ((device = strstr(device, \"virtio_uml.device=\"))) {\n\
                 \t\tdevice++;\n\t\tcount++;\n\t}\n\
                 \treturn min(count, NR_IRQS);\n}\n",
            ),
        ],
        without: FEW,
    },
];

pub(super) const COMMAND_LINE: Edits = Edits {
    file: "arch/um/include/asm/setup.h",
    edits: &[("#define COMMAND_LINE_SIZE 4096\n", "#define COMMAND_LINE_SIZE 65536\n")],
    without: FEW,
};

const FEW: &str = "a node has at most 51 interfaces with this kernel";
